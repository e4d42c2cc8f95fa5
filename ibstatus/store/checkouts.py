"""Main checkouts whose git directory is not called `.git`: submodules, separate git dirs, bare repositories."""

from ibstatus.store import disk, places

ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


def main_of(common: str) -> str:
    """core.worktree (a submodule); else what we wrote down at init; else the directory that holds the common dir."""
    for config in ("/config.worktree", "/config"):
        work_tree = configured_worktree(common + config)
        if work_tree:
            return work_tree if work_tree.startswith("/") else places.normal(f"{common}/{work_tree}")
    noted = noted_root(common)
    if noted and places.pointed(noted + "/.git", noted) == common:  # not when all was copied or moved
        return noted
    return common.rpartition("/")[0] or "/"


def noted_root(common: str) -> str:
    """The root in the safety copy: the only trace of a checkout that has its git directory elsewhere."""
    try:
        return disk.read_file(common + "/ib/root").decode("utf-8", "surrogateescape").removesuffix("\n")
    except OSError:
        return ""


def sharers(place: places.Place) -> list[str]:
    """Other git directories that use this very .ittybitty: bare repositories beside each other."""
    if disk.exists(place.root + "/.git"):
        return []
    found = []
    for leaf in sorted(disk.listdir(place.root)):
        other = f"{place.root}/{leaf}"
        if other != place.common and noted_root(other) == place.root:
            found.append(other)
    return found


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
