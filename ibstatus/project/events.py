"""events.jsonl: the history, folded from the spools under the fold lock. For people; nothing is rebuilt from it.

A fold is a row of renames, so that a kill between any two steps neither loses nor doubles a line:
spool/*.jsonl → spool/folding/ → spool/folding-<size of events.jsonl> → (append) → spool/folded → gone.
"""

from typing import Any

from ibstatus.project import paths
from ibstatus.system import append, atomic, disk, jsonl, locks

ROTATE_ABOVE = 8 << 20
KEPT = 4
TAIL = 1 << 16
LONGEST_NUMBER = 16


def fold(place: paths.Place, *, wait: bool = True) -> None:
    """Bring everything that was noted so far into the history. Without `wait`, unless somebody is at it already."""
    lock = locks.Lock(place.lock("fold"))
    if wait:
        lock.__enter__()
    elif not lock.try_take():
        return
    try:
        finish_last(place)
        if claim(place):
            carry_over(place)
        rotate(place)
    finally:
        lock.release()


def claim(place: paths.Place) -> bool:
    """Move the spools aside, each under its own flock, so that no writer still holds the old file."""
    folding = place.spool + "/folding"
    disk.make_dirs(folding)
    for leaf in disk.listdir(place.spool):
        if not leaf.endswith(".jsonl"):
            continue
        try:
            fd, _, _ = append.held(f"{place.spool}/{leaf}")
        except OSError:
            continue  # gone, or something that is no spool
        try:
            if not disk.exists(f"{folding}/{leaf}"):
                disk.rename(f"{place.spool}/{leaf}", f"{folding}/{leaf}")
        finally:
            disk.close(fd)
    return bool(disk.listdir(folding))


def carry_over(place: paths.Place) -> None:
    size = size_of(place.events)
    claimed = f"{place.spool}/folding-{size}"
    disk.rename(place.spool + "/folding", claimed)
    complete(place, claimed, size)


def complete(place: paths.Place, claimed: str, size: int) -> None:
    """Append what `claimed` holds after the first `size` bytes of the history, and clear it away."""
    found: list[tuple[str, dict[str, Any]]] = []
    noted = changed_at(place.events)
    for leaf in sorted(disk.listdir(claimed)):
        noted = max(noted, changed_at(f"{claimed}/{leaf}"))
        found += dated(parsed(disk.read_file(f"{claimed}/{leaf}")))
    entries = [entry for _, entry in sorted(found, key=lambda one: one[0])]
    fd = disk.open(place.events, disk.O_RDWR | disk.O_CREAT | disk.O_NOFOLLOW | disk.O_CLOEXEC, 0o600)
    try:
        disk.ftruncate(fd, size)
        seq = last_seq(place, fd, size)
        text = "".join([jsonl.encode({"seq": seq + n, **entry}) + "\n" for n, entry in enumerate(entries, 1)])
        view, at = memoryview(text.encode("utf-8", "replace")), size
        while view:
            written = disk.pwrite(fd, view, at)
            view, at = view[written:], at + written
        disk.fsync(fd)
    finally:
        disk.close(fd)
    disk.utime(place.events, ns=(noted, noted))  # it tells when something was noted, not when that was folded
    disk.rename(claimed, place.spool + "/folded")
    clear(place.spool + "/folded")


def dated(entries: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Each with when it was noted, never before the one above it: of one writer the order is sure, the clock is not."""
    last, found = "", []
    for entry in entries:
        last = max(last, str(entry.get("t", "")))
        found.append((last, entry))
    return found


def finish_last(place: paths.Place) -> None:
    """Take up a fold that was killed: a claimed one is appended again from its noted size, a folded one is done."""
    clear(place.spool + "/folded")
    for leaf in folders(place):
        size = leaf.removeprefix("folding-")
        if leaf != size and size.isascii() and size.isdigit() and len(size) < LONGEST_NUMBER:
            complete(place, f"{place.spool}/{leaf}", min(int(size), size_of(place.events)))


def folders(place: paths.Place) -> list[str]:
    try:
        return disk.listdir(place.spool)
    except FileNotFoundError:
        disk.make_dirs(place.spool)
        return []


def spools(place: paths.Place) -> list[str]:
    return [f"{place.spool}/{leaf}" for leaf in folders(place) if leaf.endswith(".jsonl")]


def clear(folder: str) -> None:
    try:
        for leaf in disk.listdir(folder):
            disk.unlink(f"{folder}/{leaf}")
        disk.rmdir(folder)
    except FileNotFoundError:
        return


def parsed(data: bytes) -> list[dict[str, Any]]:
    """The objects among the lines; a torn or foreign line of a history is dropped."""
    found = []
    for raw in data.split(b"\n"):
        try:
            value = jsonl.decode(raw.decode("utf-8", "replace")) if raw.strip() else None
        except ValueError:
            continue
        if isinstance(value, dict):
            value.pop("seq", None)
            found.append(value)
    return found


def last_seq(place: paths.Place, fd: int, size: int) -> int:
    """The number of the last event that there is, however long its line."""
    window = TAIL
    while size:
        found = with_seq(disk.pread(fd, min(size, window), max(0, size - window)))
        if found:
            return int(found[-1]["seq"])
        if window >= size:
            break
        window *= 8
    try:
        older = with_seq(disk.read_file(place.events + ".1"))
    except FileNotFoundError:
        return 0
    return int(older[-1]["seq"]) if older else 0


def size_of(path: str) -> int:
    try:
        return disk.stat(path).st_size
    except FileNotFoundError:
        return 0


def changed_at(path: str) -> int:
    try:
        return disk.stat(path).st_mtime_ns
    except FileNotFoundError:
        return 0


def rotate(place: paths.Place) -> None:
    if size_of(place.events) <= ROTATE_ABOVE:
        return
    atomic.forget(f"{place.events}.{KEPT}")
    for number in range(KEPT - 1, 0, -1):
        if disk.exists(f"{place.events}.{number}"):
            disk.rename(f"{place.events}.{number}", f"{place.events}.{number + 1}")
    disk.rename(place.events, place.events + ".1")


def read(place: paths.Place, since: int = 0) -> list[dict[str, Any]]:
    """The history after `seq` = since, oldest first, as far back as it is kept."""
    found: list[dict[str, Any]] = []
    for number in range(KEPT + 1):
        path = place.events + (f".{number}" if number else "")
        try:
            part = with_seq(disk.read_file(path))
        except FileNotFoundError:
            continue
        begins = found[0]["seq"] if found else None  # a rotation in between shows a file twice
        found = [entry for entry in part if entry["seq"] > since and (begins is None or entry["seq"] < begins)] + found
        if part and part[0]["seq"] <= since + 1:
            break
    return found


def with_seq(data: bytes) -> list[dict[str, Any]]:
    found = []
    for raw in data.split(b"\n"):
        try:
            value = jsonl.decode(raw.decode("utf-8", "replace")) if raw else None
        except ValueError:
            continue
        if isinstance(value, dict) and isinstance(value.get("seq"), int):
            found.append(value)
    return found


def state(place: paths.Place) -> tuple[int, ...]:
    """Changes whenever something was noted or folded; cheap to ask."""
    sizes = [size_of(path) for path in spools(place)]
    try:
        history = disk.stat(place.events)
    except FileNotFoundError:
        return (0, 0, *sizes)
    return (history.st_ino, history.st_size, *sizes)
