"""A user's file as it was read at one moment, with all that another file needs in order to take its place."""

import time
from typing import TYPE_CHECKING

from ibstatus.system import disk, leases
from ibstatus.system.userfiles.displaced_record import Stamp

if TYPE_CHECKING:
    from os import stat_result

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
    def stamp(self) -> Stamp:
        return Stamp(self.status.st_ino, self.status.st_size, self.status.st_mtime_ns)


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
