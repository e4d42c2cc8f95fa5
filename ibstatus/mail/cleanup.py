"""A queue that was deleted, and begun anew by a foreign writer before any of us could put it back.

What hooks keep of each session under notify/, beside its cursor; sessions that were killed leave it behind.

Trimming the queue: what every reader has had goes, the last line and everything unread stays.
"""

import time

from ibstatus.mail import cursors
from ibstatus.project import paths, safety_copy
from ibstatus.system import append, atomic, disk, locks


def rejoin(place: paths.Place) -> bool:
    """Ours takes the name back from its safety copy, with theirs behind it; the caller holds the queue lock.

    False when there is nothing to bring together. After an OSError the next one tries again."""
    try:
        old, old_size, old_inode = append.opened(place.safe_copy(place.queue))
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        new, new_size, new_inode = append.opened(place.queue)
    except BaseException:
        disk.close(old)
        raise
    try:
        if old_inode == new_inode or not old_size or same_beginning(old, new):
            return False
        if cursors.known_base(place, new, new_inode, new_size) is not None:
            return False
        join(place, old, new, cursors.known_base(place, old, old_inode, old_size))
        return True
    finally:
        disk.close(old)
        disk.close(new)


def same_beginning(old: int, new: int) -> bool:
    """Where there are no hard links the copy is a copy."""
    length = cursors.first_line(old)
    return length == cursors.first_line(new) and cursors.fingerprint(old, length) == cursors.fingerprint(new, length)


def join(place: paths.Place, old: int, new: int, base: int | None) -> None:
    """As in a trim: the third file has its entry in `base` before it gets the name."""
    temp = f"{place.home}/notify/.queue.joined.ib-tmp"
    atomic.forget(temp)
    flags = disk.O_RDWR | disk.O_APPEND | disk.O_CREAT | disk.O_EXCL | disk.O_CLOEXEC
    both = disk.open(temp, flags, 0o600)
    try:
        size = carry(old, both, 0)
        if disk.pread(old, 1, size - 1) != b"\n":
            disk.write_all(both, b"\n")
        at = carry(new, both, 0)
        disk.fsync(both)
        if base is not None:
            cursors.set_base(place, cursors.entry(base, old) + cursors.entry(base, both))
        disk.rename(temp, place.queue)
        carry(new, both, at)
        safety_copy.keep_link_of(place, place.queue, both)
    finally:
        disk.close(both)


def carry(source: int, target: int, at: int) -> int:
    """Everything from this offset on; returns where it ended."""
    while data := disk.pread(source, 1 << 20, at):
        disk.write_all(target, data)
        at += len(data)
    return at


FOLDERS = ("standing", "seen", "rungs", "turns", "waiters")
OLD = 14 * 86400.0


def sweep(place: paths.Place, now: float) -> None:
    """Never fails. A session is as young as the youngest of its files."""
    found: dict[str, list[tuple[str, float]]] = {}
    for name in FOLDERS:
        folder = f"{place.home}/notify/{name}"
        try:
            for leaf in disk.listdir(folder):
                path = f"{folder}/{leaf}"
                found.setdefault(leaf, []).append((path, disk.lstat(path).st_mtime))
        except OSError:
            continue
    for files in found.values():
        if all(now - at > OLD for _, at in files):
            for path, _ in files:
                atomic.forget(path)


FRESH = 24 * 3600
FORGOTTEN = 30 * 24 * 3600


def trim(place: paths.Place) -> int:
    """Under the queue lock, which the caller holds. Returns how many bytes went."""
    fd, size, inode = append.held(place.queue)
    try:
        base = cursors.known_base(place, fd, inode, size)
        if base is None:
            return 0  # nobody has read this file yet
        cut = cut_at(fd, cursors.whole(fd, size), limit(place, time.time()) - base)
        if cut <= 0:
            return 0
        rewrite(place, fd, base, cut)
        forget_old_cursors(place, time.time())
        return cut
    finally:
        disk.close(fd)


def limit(place: paths.Place, now: float) -> int:
    """Behind every cursor touched within a day, and never past what somebody has confirmed."""
    everyone = cursors.all_of(place)
    if not everyone:
        return 0
    fresh = [cursor.done for cursor, touched in everyone if now - touched < FRESH]
    return min([*fresh, max(cursor.done for cursor, _ in everyone)])


def cut_at(fd: int, whole: int, wanted: int) -> int:
    """A line start at or before `wanted` that leaves at least the last line."""
    last_line = disk.pread(fd, whole - 1, 0).rfind(b"\n") + 1 if whole else 0
    cut = min(wanted, last_line)
    if cut <= 0:
        return 0
    return disk.pread(fd, cut, 0).rfind(b"\n") + 1


def rewrite(place: paths.Place, fd: int, base: int, cut: int) -> None:
    """The new file gets its entry in `base` before it gets the name: killed anywhere, each file has its own offset."""
    size = disk.fstat(fd).st_size
    rest = disk.pread(fd, size - cut, cut)
    temp = f"{place.home}/notify/.queue.new.ib-tmp"
    atomic.forget(temp)
    new = disk.open(temp, disk.O_RDWR | disk.O_APPEND | disk.O_CREAT | disk.O_EXCL | disk.O_CLOEXEC, 0o600)
    try:
        disk.write_all(new, rest)
        disk.fsync(new)
        after = cursors.entry(base + cut, new)
        cursors.set_base(place, cursors.entry(base, fd) + after)
        disk.rename(temp, place.queue)
        while late := disk.pread(fd, 1 << 20, size):  # a foreign `echo >>` that had the old file open
            disk.write_all(new, late)
            size += len(late)
        atomic.sync_folder(place.home + "/notify")
        safety_copy.keep_link(place, place.queue, disk.fstat(new).st_ino)
        cursors.set_base(place, after)
    finally:
        disk.close(new)


def forget_old_cursors(place: paths.Place, now: float) -> None:
    for name in cursors.names(place):
        path = place.cursor(name)
        try:
            old = now - disk.stat(path).st_mtime > FORGOTTEN
        except FileNotFoundError:
            continue
        if old and name != cursors.OF_PERSONS and not locks.is_held(place.lock("cursor-" + name)):
            atomic.forget(place.safe_copy(path))
            atomic.forget(path)
