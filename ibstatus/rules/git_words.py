"""What a git does, by the words that it was called with. Pure."""

from collections.abc import Sequence

from ibstatus.rules.guarding.git_options import VALUED

REBASE = "rebase"
SWITCHING = ("checkout", "switch", REBASE)  # an alias, a bisect, a pull and a stash run one of these
PICKING = ("-p", "--patch")  # these ask, file by file, and switch nothing
SWITCHED = "post-checkout"  # the hook: HEAD is written by then


def command(argv: Sequence[str]) -> tuple[str, Sequence[str]]:
    """What stands behind git's own options, and its own words; '' where it is no git."""
    if argv and argv[0].rpartition("/")[2] == "git":
        at = 1
        while at < len(argv):
            if not argv[at].startswith("-"):
                return argv[at], argv[at + 1 :]
            at += 2 if argv[at] in VALUED else 1
    return "", ()


def may_switch(argv: Sequence[str]) -> bool:
    """Is the checkout about to have another branch? A rebase may be about to, before it has begun."""
    verb, words = command(argv)
    if verb not in SWITCHING:
        return False
    files = "--" in words and words[-1] != "--"
    return not (files or any(word in PICKING for word in words))


def is_told_of_a_switch(argv: Sequence[str]) -> bool:
    """The hook itself, or what it is written in: a shell, `git lfs`."""
    return any(word.rpartition("/")[2] == SWITCHED for word in argv[:4])
