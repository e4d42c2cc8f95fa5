"""<git>/ib/undo/<time>-<agent>/: what a removal took away, so that `ib undo` can bring it back.

record.json says what was done; `agent/` is the agent's folder, `rest/` its worktree without what the commit at
refs/ib/undo/<name> holds, `admin/` git's own directory of that worktree.

What can be undone is kept for a while, and then let go.

What a kept worktree holds that git was told to ignore: the only thing that may go before its time, for its size.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from ibstatus.errors import IbError
from ibstatus.model import constants
from ibstatus.project import names, operations, paths
from ibstatus.project.rules import counts
from ibstatus.system import atomic, disk, folders, locks
from ibstatus.system.git import index

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


Say = Callable[[str], None]


def forget_old(place: paths.Place, now: float, say: Say) -> None:
    """What is older than was promised goes; of the rest only what is ignored and big."""
    forget_removals(place, hidden(place))
    sweep(place, now)
    forget_removals(place, [record.name for record in surplus(place, now)])
    for record in relieve(place):
        say(f"To save space ib undo {record.name} no longer has what git ignored: {counts.some(record.dropped)}")


def forget_removals(place: paths.Place, names: Iterable[str], *, keep_commits: bool = False) -> None:
    """Out of sight, then its commit, then its files: one that is cut off is still known by its hidden folder."""
    for name in names:
        hide(place, name)
        if not keep_commits:
            index.asked(place.git_folder, "update-ref", "-d", ref_of(name))
        forget(place, [name])


LISTED = "ignored"
LARGEST = 1 << 30
SMALL = 1 << 20  # settings and keys are ignored, too, and are worth more than they weigh


def note(place: paths.Place, name: str, ignored: list[bytes]) -> None:
    """Written down while git can still say it: paths in the worktree, of whole folders where all in them is ignored."""
    if ignored:
        atomic.put(f"{folder(place, name)}/{LISTED}", b"\0".join(ignored))


def relieve(place: paths.Place) -> list[Record]:
    """Over the limit the oldest lose what is ignored and big; never the newest command. Returns who has lost some."""
    known = all_of(place)
    over = sum(record.size for record in known) - LARGEST
    found = []
    for record in reversed([one for one in known if one.group != known[0].group]):
        if over <= 0:
            break
        lighter = lightened(place, record)
        if lighter is not None:
            over -= record.size - lighter.size
            found.append(lighter)
    return found


def lightened(place: paths.Place, record: Record) -> Record | None:
    """None where there is nothing of that kind, or where somebody is bringing it back."""
    lock = locks.Lock(operations.lock_of(place, record.agent))
    if not lock.try_take():
        return None
    try:
        return None if operations.read(place, record.agent) else dropped(place, record.name)
    finally:
        lock.release()


def dropped(place: paths.Place, name: str) -> Record | None:
    """First it is written down that it is gone; cut off, the next one goes on by the list."""
    record, kept = read(place, name), folder(place, name)
    going = dict(heavy(f"{kept}/{REST}", listed(kept)))
    if record is None or not going:
        return None
    shown = [path.decode("utf-8", "replace") for path in going.values()]
    record = msgspec.structs.replace(record, dropped=[*record.dropped, *shown])
    write(place, record)
    for path in going:
        folders.remove(path)
    atomic.forget(f"{kept}/{LISTED}")
    record = msgspec.structs.replace(record, size=folders.size_of(kept))
    write(place, record)
    return record


def listed(folder: str) -> list[bytes]:
    try:
        return disk.read_file(f"{folder}/{LISTED}").split(b"\0")
    except OSError:
        return []


def heavy(rest: str, ignored: list[bytes]) -> Iterator[tuple[str, bytes]]:
    """(where it lies, its path): what is big, and has no repository of its own in it."""
    for path in ignored:
        full = f"{rest}/{os.fsdecode(path)}".rstrip("/")
        if folders.is_there(full) and weight(full) >= SMALL and not has_repository(full):
            yield full, path


def weight(path: str) -> int:
    return folders.size_of(path) + disk.lstat(path).st_blocks * 512


def has_repository(path: str) -> bool:
    return any(b".git" in (*folders, *leaves) for _, folders, leaves in os.walk(os.fsencode(path)))
