"""<git>/ib/undo/<time>-<agent>/: what a removal took away, so that `ib undo` can bring it back.

record.json says what was done; `agent/` is the agent's folder, `rest/` its worktree without what the commit at
refs/ib/undo/<name> holds, `admin/` git's own directory of that worktree.
"""

import time
from collections.abc import Iterable
from typing import Any

import msgspec

from ibstatus.errors import IbError
from ibstatus.model import constants
from ibstatus.project import names, paths
from ibstatus.system import atomic, disk, folders

RECORD, AGENT, REST, ADMIN, PART = "record.json", "agent", "rest", "admin", "part"
GONE = ".gone-"
MAIL = "all"  # stands for the messages, questions and queue of a full nuke: no agent can have this name
DAYS = 30
UNUSED = 24 * 3600
NO_AGENTS = ("", constants.USER, constants.PRIMARY, constants.UNKNOWN)


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """One removal. `group`: the command that it was part of; `kind`: kill, merge, nuke or gc.

    `finished`: everything is away; until then the operation that does it is mended first. `dropped`: ignored files that
    went before their time, see undo_bulk."""

    name: str
    kind: str
    agent: str
    group: str
    by: str
    at: float
    finished: bool = False
    archive: str = ""
    commit: str = ""
    branch: str = ""
    tip: str = ""
    admin: str = ""
    modes: dict[str, int] = {}
    children: list[str] = []
    manager: str = ""
    questions: list[str] = []
    merge: dict[str, Any] | None = None
    size: int = 0
    dropped: list[str] = []


def folder(place: paths.Place, name: str) -> str:
    return f"{place.safe}/undo/{name}"


def ref_of(name: str) -> str:
    return "refs/ib/undo/" + name


def reserve(place: paths.Place, agent: str, now: float) -> str:
    """A name that nobody else has; its folder is made."""
    stem = time.strftime("%Y%m%d-%H%M%S", time.localtime(now)) + "-" + names.in_id(agent)
    disk.make_dirs(place.safe + "/undo")
    number = 1
    while True:
        name = stem if number == 1 else f"{stem}.{number}"
        try:
            disk.mkdir(folder(place, name), 0o700)
            return name
        except FileExistsError:
            number += 1


def write(place: paths.Place, record: Record) -> None:
    disk.make_dirs(folder(place, record.name))
    atomic.put(f"{folder(place, record.name)}/{RECORD}", msgspec.json.encode(record) + b"\n")


def read(place: paths.Place, name: str) -> Record | None:
    try:
        return msgspec.json.decode(disk.read_file(f"{folder(place, name)}/{RECORD}"), type=Record)
    except (OSError, msgspec.DecodeError):
        return None


def all_of(place: paths.Place) -> list[Record]:
    """What can be undone, newest first."""
    try:
        known = disk.listdir(place.safe + "/undo")
    except OSError:
        return []
    found = [record for name in known if (record := read(place, name)) is not None and record.name == name]
    return sorted((one for one in found if one.finished), key=lambda one: (one.at, one.name), reverse=True)


def chosen(place: paths.Place, wanted: str) -> list[Record]:
    """The group that is meant, in the order in which it is brought back; '' means the newest of the user's own: what an
    agent has merged or killed meanwhile is not what they think of.

    `wanted`: a record's name, or an agent's id, or the beginning of either."""
    known = all_of(place)
    if not known:
        raise IbError("There is nothing to undo", hint="ib list")
    own = [record for record in known if record.by in NO_AGENTS] or known
    picked = own[0] if not wanted else pick(known, wanted)
    return [record for record in known if record.group == picked.group]


def pick(known: list[Record], wanted: str) -> Record:
    """The newest that fits; an exact name wins over an exact agent, and that over a beginning."""
    exact = [one for one in known if one.name == wanted] or [one for one in known if one.agent == wanted]
    found = exact or [one for one in known if one.name.startswith(wanted) or one.agent.startswith(wanted)]
    if not found:
        raise IbError(f"Nothing was removed that is called '{wanted}'", hint="ib undo --list")
    several = sorted({one.agent for one in found})
    if not exact and len(several) > 1:
        raise IbError(f"'{wanted}' could be {', '.join(several)}", hint="type more of the id; ib undo --list")
    return found[0]


def surplus(place: paths.Place, now: float, days: float = DAYS) -> list[Record]:
    """What is older than was promised, by whole groups. Nothing goes earlier, however many and big they are."""
    known = all_of(place)
    kept = {record.group for record in known if record.at >= now - days * 86400}
    return [record for record in known if record.group not in kept]


def hide(place: paths.Place, name: str) -> str:
    """Out of sight in one step, so that no half record is ever offered. Returns where it is."""
    trash = f"{place.safe}/undo/{GONE}{name}"
    if folders.is_there(folder(place, name)):
        folders.remove(trash)
        disk.rename(folder(place, name), trash)
    return trash


def forget(place: paths.Place, names: Iterable[str]) -> None:
    """Off the disk."""
    for name in names:
        folders.remove(hide(place, name))


def hidden(place: paths.Place) -> list[str]:
    """Names on their way out, which somebody who was killed has left there."""
    found = folders.names_in(place.safe + "/undo")
    return [leaf.removeprefix(GONE) for leaf in found if leaf.startswith(GONE)]


def sweep(place: paths.Place, now: float) -> None:
    """What killed commands have left: folders on their way out, and names that were taken and never used."""
    for leaf in folders.names_in(place.safe + "/undo"):
        path = folder(place, leaf)
        if leaf.startswith(GONE) or is_unused(path, now):
            folders.remove(path)


def is_unused(path: str, now: float) -> bool:
    """Nothing was ever moved there; a folder that something was moved to is kept, whoever has lost its record."""
    if any(folders.is_there(f"{path}/{leaf}") for leaf in (RECORD, AGENT, REST, ADMIN)):
        return False
    return now - disk.lstat(path).st_mtime > UNUSED
