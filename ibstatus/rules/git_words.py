"""What a git does, by the words that it was called with. Pure."""

from collections.abc import Sequence

SWITCHING = ("checkout", "switch")  # an alias, a bisect and a stash run one of these
WITH_A_WORD = ("-c", "-C", "--attr-source", "--config-env", "--git-dir", "--namespace", "--super-prefix", "--work-tree")


def command(argv: Sequence[str]) -> str:
    """What stands behind git's own options; '' where it is no git."""
    if not argv or argv[0].rpartition("/")[2] != "git":
        return ""
    words = iter(argv[1:])
    for word in words:
        if word in WITH_A_WORD:
            next(words, "")
        elif not word.startswith("-"):
            return word
    return ""


def may_switch(argv: Sequence[str]) -> bool:
    return command(argv) in SWITCHING
