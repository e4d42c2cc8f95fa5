"""What is asked of an edit of a user's file, and how it ended.

A user's file as it was read at one moment, with all that another file needs in order to take its place.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from ibstatus.system import disk, leases
from ibstatus.system.text.splices import Splice
from ibstatus.system.userfiles.displaced_record import Stamp as RecordStamp

if TYPE_CHECKING:
    from os import stat_result


How = Literal["same", "in place", "exchanged", "grown in place", "replaced", "held", "busy", "gone"]


class Wish(NamedTuple):
    """`change` is given the whole text as just read; `now_ok` is asked right before the write."""

    change: Callable[[bytes], Splice | None]
    desk: str
    may_resize: bool = True
    now_ok: Callable[[], bool] | None = None
    durable: bool = True
    patience: float = 2.0

    def may_go_on(self) -> bool:
        return self.now_ok is None or self.now_ok()


Stamp = tuple[int, int, int, int]


def stamp_of(status: "stat_result") -> Stamp:
    """Inode, size and times of a file: when none of them has changed, nobody has written to it."""
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class Edited(NamedTuple):
    """`note` says why nothing was written (held, busy) or what a person should know; `stamp`, after a write in place,
    is how the file was then."""

    how: How
    note: str = ""
    resized: bool = False
    stamp: Stamp | None = None


class Known(NamedTuple):
    """Bytes of ours, where they stand, and how the file was when they were written: the rest need not be read again."""

    stamp: Stamp
    start: int
    data: bytes


class Stuck(NamedTuple):
    """This way is closed; the next one may be open. `why` completes 'Could not …: '.

    `reading`: only the size was in the way, and this is the file as it was read."""

    why: str
    reading: "Reading | None" = None


def is_change(text: bytes, splice: Splice | None) -> bool:
    return splice is not None and text[splice.start : splice.end] != splice.data


def narrowed(text: bytes, splice: Splice) -> Splice:
    """The same change without the bytes at its beginning and end that stay as they are."""
    old, new = text[splice.start : splice.end], splice.data
    head = common(old, new)
    tail = common(old[head:][::-1], new[head:][::-1])
    return Splice(splice.start + head, splice.end - tail, new[head : len(new) - tail])


def common(one: bytes, other: bytes) -> int:
    """How many bytes they begin with in common, by halving."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


FLAGS = disk.O_RDONLY | disk.O_NOFOLLOW | disk.O_NONBLOCK | disk.O_CLOEXEC
RECENT = 1.0  # seconds: a later write could leave the same time on the file


class Reading:
    """`quiet`: nobody had it open for writing, and nobody has saved it just now."""

    __slots__ = ("quiet", "status", "text", "xattrs")

    def __init__(self, fd: int, status: "stat_result", text: bytes, alone: bool) -> None:
        self.status = status
        self.text = text
        self.xattrs = attributes(fd)
        self.quiet = alone and time.time() - status.st_mtime > RECENT

    @property
    def stamp(self) -> RecordStamp:
        return RecordStamp(self.status.st_ino, self.status.st_size, self.status.st_mtime_ns)


def of(target: str) -> Reading:
    fd = disk.open(target, FLAGS)
    try:
        status = disk.fstat(fd)
        alone = leases.writers(fd) == leases.GRANTED
        return Reading(fd, status, disk.pread(fd, status.st_size, 0), alone)
    finally:
        disk.close(fd)


def attributes(fd: int) -> list[tuple[str, bytes]]:
    if disk.listxattr is None:
        return []
    try:
        return [(name, disk.getxattr(fd, name)) for name in disk.listxattr(fd)]
    except OSError:
        return []
