"""Main checkouts whose git directory is not called `.git`: submodules, separate git dirs, bare repositories."""

from ibstatus.system import disk

ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


def configured_root(common: str) -> str:
    """core.worktree, which a submodule has, as it stands there; '' without one."""
    for config in ("/config.worktree", "/config"):
        work_tree = configured_worktree(common + config)
        if work_tree:
            return work_tree
    return ""


def noted_root(common: str) -> str:
    """The root in the safety copy: the only trace of a checkout that has its git directory elsewhere."""
    try:
        return disk.read_file(common + "/ib/root").decode("utf-8", "surrogateescape").removesuffix("\n")
    except OSError:
        return ""


def configured_worktree(config: str) -> str:
    """`core.worktree` as git itself writes it: perhaps quoted, without includes."""
    try:
        lines = disk.read_file(config).decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        return ""
    section = ""
    for line in lines:
        text = line.strip()
        if text.startswith("["):
            section = text.lower()
        elif section == "[core]":
            key, _, value = text.partition("=")
            if key.strip().lower() == "worktree":
                return unquoted(value.strip())
    return ""


def unquoted(value: str) -> str:
    """A value of a git config file without its quotes and backslashes."""
    text = ""
    letters = iter(value)
    for letter in letters:
        if letter == "\\":
            after = next(letters, "")
            text += ESCAPES.get(after, after)
        elif letter != '"':
            text += letter
    return text
