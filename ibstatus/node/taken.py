"""Who has taken our block out of CLAUDE.md: git, which puts back what it has, or a person, who means it."""

from ibstatus.node import tracked_file
from ibstatus.project import originals, paths
from ibstatus.system.git import git_filter, index
from ibstatus.system.text import markers


def is_ours(noted: originals.Touched | None) -> bool:
    """The block was put in by us: there was none before."""
    if noted is None:
        return False
    try:
        return markers.find(noted.before or b"") is None
    except markers.Malformed:
        return False


def by_git(place: paths.Place, file: str, data: bytes) -> bool:
    """Nobody saw it go, and the file is just as git has it: a checkout, merge or stash wrote it without our block."""
    path = tracked_file.named(place).path
    if not path or not is_ours(originals.known(place, originals.CLAUDE_MD, file)):
        return False
    entries = index.entries(place.root, path)
    return len(entries) == 1 and entries[0].oid == git_filter.digest(place.root, path, data)
