"""Trimming the queue: what every reader has had goes, the last line and everything unread stays."""

import time

from ibstatus.mail import cursors, queue
from ibstatus.project import paths, safety_copy
from ibstatus.system import append, atomic, disk, locks

FRESH = 24 * 3600
FORGOTTEN = 30 * 24 * 3600


def trim(place: paths.Place) -> int:
    """Under the queue lock, which the caller holds. Returns how many bytes went."""
    fd, size, inode = append.held(place.queue)
    try:
        base = queue.known_base(place, fd, inode, size)
        if base is None:
            return 0  # nobody has read this file yet
        cut = cut_at(fd, queue.whole(fd, size), limit(place, time.time()) - base)
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
        after = queue.entry(base + cut, new)
        queue.set_base(place, queue.entry(base, fd) + after)
        disk.rename(temp, place.queue)
        while late := disk.pread(fd, 1 << 20, size):  # a foreign `echo >>` that had the old file open
            disk.write_all(new, late)
            size += len(late)
        atomic.sync_folder(place.home + "/notify")
        safety_copy.keep_link(place, place.queue, disk.fstat(new).st_ino)
        queue.set_base(place, after)
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
