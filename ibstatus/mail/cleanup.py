"""A queue that was deleted, and begun anew by a foreign writer before any of us could put it back."""

from ibstatus.mail import queue
from ibstatus.project import paths, safety_copy
from ibstatus.system import append, atomic, disk


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
        if queue.known_base(place, new, new_inode, new_size) is not None:
            return False
        join(place, old, new, queue.known_base(place, old, old_inode, old_size))
        return True
    finally:
        disk.close(old)
        disk.close(new)


def same_beginning(old: int, new: int) -> bool:
    """Where there are no hard links the copy is a copy."""
    length = queue.first_line(old)
    return length == queue.first_line(new) and queue.fingerprint(old, length) == queue.fingerprint(new, length)


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
            queue.set_base(place, queue.entry(base, old) + queue.entry(base, both))
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
