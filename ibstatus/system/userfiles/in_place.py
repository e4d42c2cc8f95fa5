"""Changing a user's file where it lies, alone with it under a lease. The usual way of the node: its size stays."""

import time
from typing import TYPE_CHECKING

from ibstatus.system import disk, leases
from ibstatus.system.text.splices import Splice, applied
from ibstatus.system.userfiles import journal
from ibstatus.system.userfiles.result import Edited, Known, Reading, Stuck, Wish, is_change, narrowed, stamp_of

if TYPE_CHECKING:
    from os import stat_result

FLAGS = disk.O_RDWR | disk.O_NOFOLLOW | disk.O_NONBLOCK | disk.O_CLOEXEC
FIRST_PAUSE, LONGEST_PAUSE = 0.0002, 0.02
IN_USE = Stuck("a program keeps it open")
NO_LEASES = Stuck("the system cannot tell whether a program has it open")


def edit(target: str, wish: Wish, *, resize: bool = False) -> Edited | Stuck:
    """Tried again while somebody has the file open, as long as `wish.patience` lasts."""
    deadline, pause = time.monotonic() + wish.patience, FIRST_PAUSE
    while True:
        done = attempt(target, wish, resize)
        if done is not None:
            return done
        if time.monotonic() > deadline:
            return IN_USE
        time.sleep(pause * (0.5 + time.time_ns() % 1000 / 1000))  # two of us must not keep step
        pause = min(pause * 1.5, LONGEST_PAUSE)


def attempt(target: str, wish: Wish, resize: bool) -> Edited | Stuck | None:
    """None: somebody has it open, or it was replaced just now."""
    try:
        fd = disk.open(target, FLAGS)
    except BlockingIOError:
        return None
    except FileNotFoundError:
        return Edited("gone")
    try:
        answer = leases.take(fd)
        if answer == leases.NONE:
            return NO_LEASES
        if answer == leases.REFUSED:
            return None
        try:
            return alone(fd, target, wish, resize)
        finally:
            leases.drop(fd)
    finally:
        disk.close(fd)


def alone(fd: int, target: str, wish: Wish, resize: bool) -> Edited | Stuck | None:
    """Under the lease: nobody else has the file open, and what is read is whole."""
    before = disk.fstat(fd)
    if not has_name(before, target):
        return None
    text = disk.pread(fd, before.st_size, 0)
    splice = wish.change(text)
    if splice is None or not is_change(text, splice):
        return Edited("same")
    if not splice.fits and not resize:
        return Stuck("its size changes", Reading(fd, before, text, alone=True))
    if not wish.may_go_on():
        return Edited("held")
    if not leases.is_mine(fd):
        return None
    if splice.fits:
        small = narrowed(text, splice)
        put(fd, small.start, small.data, text[small.start : small.end])
        disk.utime(fd, ns=(before.st_atime_ns, before.st_mtime_ns))  # the person's text is as old as it was
        return Edited("in place", stamp=stamp_of(disk.fstat(fd)))
    grow(fd, before, target, wish, splice, text)
    return Edited("grown in place", resized=True)


def rewrite(target: str, known: Known, data: bytes, wish: Wish) -> Known | None:
    """Other bytes of the same length in the place of `known`, in a file that nobody has written to since; else None.

    The stamp could miss a save in the same tick of the kernel's clock, so our bytes are looked at as well.
    """
    try:
        fd = disk.open(target, FLAGS)
    except OSError:
        return None
    try:
        if len(data) != len(known.data) or leases.take(fd) != leases.GRANTED:
            return None
        try:
            before = disk.fstat(fd)
            if stamp_of(before) != known.stamp or not has_name(before, target):
                return None
            if disk.pread(fd, len(data), known.start) != known.data or not wish.may_go_on() or not leases.is_mine(fd):
                return None
            put(fd, known.start, data, known.data)
            disk.utime(fd, ns=(before.st_atime_ns, before.st_mtime_ns))
            return Known(stamp_of(disk.fstat(fd)), known.start, data)
        finally:
            leases.drop(fd)
    finally:
        disk.close(fd)


def put(fd: int, start: int, new: bytes, old: bytes) -> None:
    """On a file system that needs new blocks for old bytes, a full disk must not leave half of it."""
    try:
        write_at(fd, new, start)
    except OSError:
        write_at(fd, old, start)
        raise


def write_at(fd: int, data: bytes, start: int) -> None:
    done = disk.pwrite(fd, data, start)
    while done < len(data):
        done += disk.pwrite(fd, data[done:], start + done)


def grow(fd: int, before: "stat_result", target: str, wish: Wish, splice: Splice, text: bytes) -> None:
    """The rest of the file moves: with a journal, since half of that would be a loss."""
    after = applied(text, splice)
    noted = journal.begin(wish.desk, target, before.st_ino, text, after)
    try:
        write_at(fd, after[splice.start :], splice.start)
        disk.ftruncate(fd, len(after))
    except BaseException:
        journal.write_whole(fd, text)
        journal.end(noted)
        raise
    disk.utime(fd, ns=(before.st_atime_ns, before.st_mtime_ns))
    disk.fsync(fd)
    journal.end(noted)


def has_name(status: "stat_result", path: str) -> bool:
    """Is it still the file of this name, and a plain one? A link that somebody put there is not followed."""
    try:
        there = disk.lstat(path)
    except FileNotFoundError:
        return False
    return disk.is_file(there) and (there.st_ino, there.st_dev) == (status.st_ino, status.st_dev)
