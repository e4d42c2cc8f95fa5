"""Changing a user's file where it lies, alone with it under a lease. The usual way of the node: its size stays."""

import time
from typing import TYPE_CHECKING

from ibstatus.rules.splices import Splice, applied
from ibstatus.store import disk, journal, leases
from ibstatus.store.edits import Edited, Stuck, Wish, is_change, narrowed

if TYPE_CHECKING:
    from os import stat_result

FLAGS = disk.O_RDWR | disk.O_NOFOLLOW | disk.O_NONBLOCK | disk.O_CLOEXEC
FIRST_PAUSE, LONGEST_PAUSE = 0.0002, 0.02
IN_USE = Stuck("a program keeps it open")
NO_LEASES = Stuck("the system cannot tell whether a program has it open")
OTHER_SIZE = Stuck("its size changes")


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
        return OTHER_SIZE
    if not wish.may_go_on():
        return Edited("held")
    if not leases.is_mine(fd):
        return None
    if splice.fits:
        put(fd, narrowed(text, splice), text)
        disk.utime(fd, ns=(before.st_atime_ns, before.st_mtime_ns))  # the person's text is as old as it was
        return Edited("in place")
    grow(fd, before, target, wish, splice, text)
    return Edited("grown in place", resized=True)


def put(fd: int, splice: Splice, text: bytes) -> None:
    """On a file system that needs new blocks for old bytes, a full disk must not leave half of it."""
    try:
        write_at(fd, splice.data, splice.start)
    except OSError:
        write_at(fd, text[splice.start : splice.end], splice.start)
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
