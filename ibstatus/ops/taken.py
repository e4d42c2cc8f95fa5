"""Who has taken our block out of CLAUDE.md: git, which puts back what it has, or a person, who means it."""

from ibstatus.drivers import git_filter, git_index
from ibstatus.ops import hiding_place
from ibstatus.rules import markers
from ibstatus.store import places, touched


def is_ours(noted: touched.Touched | None) -> bool:
    """The block was put in by us: there was none before."""
    if noted is None:
        return False
    try:
        return markers.find(noted.before or b"") is None
    except markers.Malformed:
        return False


def by_git(place: places.Place, file: str, data: bytes) -> bool:
    """Nobody saw it go, and the file is just as git has it: a checkout, merge or stash wrote it without our block."""
    path = hiding_place.named(place).path
    if not path or not is_ours(touched.known(place, touched.CLAUDE_MD, file)):
        return False
    entries = git_index.entries(place.root, path)
    return len(entries) == 1 and entries[0].oid == git_filter.digest(place.root, path, data)
