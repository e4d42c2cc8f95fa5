"""Which file of git's is to be kept quiet about: CLAUDE.md, or what it is a link to; and what stands in the way.

Who has taken our block out of CLAUDE.md: git, which puts back what it has, or a person, who means it.
"""

import os
from typing import NamedTuple

from ibstatus.node.rules import git_filter as filtering
from ibstatus.project import git_exclude, originals, paths
from ibstatus.project.rules import findings
from ibstatus.system.git import index, run
from ibstatus.system.process import run as installed
from ibstatus.system.text import markers

FILE = "/CLAUDE.md"


class Spot(NamedTuple):
    """`path` from the root, '' where no git looks at it; `why` it cannot be hidden; `local`: git has no block of it."""

    file: str
    path: str = ""
    why: str = ""
    note: str = ""
    tracked: bool = False
    local: bool = True


def named(place: paths.Place) -> Spot:
    """The file and its name for git, without looking any further."""
    file = os.path.realpath(place.root + FILE)
    if not git_exclude.in_checkout(place):
        return Spot(file, note="no git looks at CLAUDE.md here")
    root = os.path.realpath(place.root)
    path = os.path.relpath(file, root)
    folder = os.path.dirname(file)
    if folder == root:
        return Spot(file, path)
    top = index.top_of(folder) if os.path.isdir(folder) else ""
    if not top:
        return Spot(file, note=f"CLAUDE.md is a link to {file}, which no git looks at")
    if os.path.realpath(top) != root:
        return Spot(file, why=f"CLAUDE.md is a link to {file}, which belongs to another repository")
    return Spot(file, path)


def find(place: paths.Place) -> Spot:
    spot = named(place)
    if spot.why or not spot.path:
        return spot
    entries = index.entries(place.root, spot.path)
    oids = [entries[0].oid if entries else "", index.committed(place.root, spot.path)]
    why = machine() or unfit(spot.path, entries) or attributed(place, spot.path)
    for oid in dict.fromkeys(oids):
        why = why or (oid and stored(place, spot.path, oid))
    if why:
        return spot._replace(why=why)
    local = not (entries and markers.find(index.blob(place.root, oids[0])))
    return spot._replace(tracked=bool(entries), local=local)


def machine() -> str:
    version = run.version()
    if findings.numbers(version) < findings.OLDEST_GIT:
        return f"{version or 'git'} is older than {findings.dotted(findings.OLDEST_GIT)}"
    return "" if installed.path_of("sed") else "there is no sed on PATH, and the filter is one"


def unfit(path: str, entries: list[index.Entry]) -> str:
    """What the index says of it that goes against a filter."""
    if not path.isprintable():
        return f"git's settings cannot name {path!r}"
    if len(entries) > 1 or any(entry.stage for entry in entries):
        return f"{path} has a conflict"
    for entry in entries:
        if entry.tag.upper() == index.SKIPPED:
            return f"git skips {path} (skip-worktree, or a sparse checkout)"
        if entry.tag.islower():
            return f"git assumes {path} to be unchanged (assume-unchanged)"
        if not entry.is_plain_file:
            return f"git does not have {path} as a file (mode {entry.mode})"
    return ""


def attributed(place: paths.Place, path: str) -> str:
    why = filtering.refusal(index.attributes(place.root, path, filtering.ATTRIBUTES))
    return f"{path} cannot have our filter: {why}" if why else ""


def attribute(place: paths.Place, path: str) -> str:
    return index.attributes(place.root, path, filtering.ATTRIBUTES[:1]).get("filter", "")


def stored(place: paths.Place, path: str, oid: str) -> str:
    """Why what git has of the file already cannot go through the filter."""
    try:
        spot = markers.find(index.blob(place.root, oid))
    except markers.Malformed as error:
        return f"line {error.line} of {path}, as git has it: {error.why}"
    if spot is not None and spot.node is not None:
        return f"git already has {path} with a status node in it"
    return ""


def is_ignored(place: paths.Place, path: str) -> bool:
    return bool(run.ignores(place.root, path))


def oid(place: paths.Place, path: str) -> str:
    """What the index has of it, or ''."""
    return next((entry.oid for entry in index.entries(place.root, path)), "")


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
    path = named(place).path
    if not path or not is_ours(originals.known(place, originals.CLAUDE_MD, file)):
        return False
    entries = index.entries(place.root, path)
    return len(entries) == 1 and entries[0].oid == index.digest(place.root, path, data)
