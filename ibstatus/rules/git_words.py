"""What a git does, by the words that it was called with. Pure."""

from collections.abc import Sequence

from ibstatus.rules.guarding import git_options

REBASE = "rebase"
SWITCHING = ("checkout", "switch", REBASE)  # an alias, a bisect, a pull and a stash run one of these
SWITCHED = "post-checkout"  # the hook; a checkout or switch has written HEAD by then


def command(argv: Sequence[str]) -> tuple[str, list[str]]:
    """What stands behind git's own options, and its own words; '' where it is no git."""
    if not argv or argv[0].rpartition("/")[2] != "git":
        return "", []
    own = list(argv)[git_options.subcommand(list(argv)) :]
    return own[0] if own else "", own[1:]


def may_switch(argv: Sequence[str]) -> bool:
    """Is the checkout about to have another branch? A rebase may be about to, before it has begun."""
    verb, words = command(argv)
    return verb in SWITCHING and not (verb == "checkout" and is_of_files(words))


def is_of_files(words: list[str]) -> bool:
    """`checkout -p` may wait for long for somebody, and switches nothing."""
    options, _ = git_options.of("checkout", words)
    picks = any(option == "-p" or git_options.means(option, "--patch") for option, _, _ in options)
    return picks or "--" in words[:-1]


def is_told_of_a_switch(argv: Sequence[str]) -> bool:
    """The hook itself, or what it is written in: a shell, `git lfs`."""
    return any(word.rpartition("/")[2] == SWITCHED for word in argv[:4])
