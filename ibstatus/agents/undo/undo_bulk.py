"""What a kept worktree holds that git was told to ignore: the only thing that may go before its time, for its size."""

import os
from collections.abc import Iterator

import msgspec

from ibstatus.agents.undo import log
from ibstatus.agents.undo.log import Record
from ibstatus.project import operations, paths
from ibstatus.system import atomic, disk, folders, locks

LISTED = "ignored"
LARGEST = 1 << 30
SMALL = 1 << 20  # settings and keys are ignored, too, and are worth more than they weigh


def note(place: paths.Place, name: str, ignored: list[bytes]) -> None:
    """Written down while git can still say it: paths in the worktree, of whole folders where all in them is ignored."""
    if ignored:
        atomic.put(f"{log.folder(place, name)}/{LISTED}", b"\0".join(ignored))


def relieve(place: paths.Place) -> list[Record]:
    """Over the limit the oldest lose what is ignored and big; never the newest command. Returns who has lost some."""
    known = log.all_of(place)
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
    record, folder = log.read(place, name), log.folder(place, name)
    going = dict(heavy(f"{folder}/{log.REST}", listed(folder)))
    if record is None or not going:
        return None
    shown = [path.decode("utf-8", "replace") for path in going.values()]
    record = msgspec.structs.replace(record, dropped=[*record.dropped, *shown])
    log.write(place, record)
    for path in going:
        folders.remove(path)
    atomic.forget(f"{folder}/{LISTED}")
    record = msgspec.structs.replace(record, size=folders.size_of(folder))
    log.write(place, record)
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
