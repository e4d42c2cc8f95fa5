"""Appending a line to a shared file: one write, under flock, to the file that still has the name."""

from ibstatus.errors import refused
from ibstatus.system import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import stat_result

FLAGS = disk.O_RDWR | disk.O_APPEND | disk.O_CREAT | disk.O_NOFOLLOW | disk.O_CLOEXEC
NOT_A_FILE = 22  # EINVAL


class Appended:
    """What is known after an append: `fd` is still open, for a sync; `end` is the size of the file."""

    __slots__ = ("end", "fd", "heard", "inode")

    def __init__(self, fd: int, end: int, inode: int) -> None:
        self.fd = fd
        self.end = end
        self.inode = inode
        self.heard = 0

    def sync(self) -> None:
        disk.fdatasync(self.fd)

    def close(self) -> None:
        disk.close(self.fd)


def append(path: str, data: bytes) -> Appended:
    """Add whole lines under the file's own flock; the file is made when it is missing."""
    fd, size, inode = held(path)
    done = put_lines(fd, size, inode, data, path)
    try:
        disk.flock(fd, disk.LOCK_UN)
    except BaseException:
        disk.close(fd)
        raise
    return done


def guarded(path: str, data: bytes) -> Appended:
    """The same for a file whose writers all hold another lock, as the caller does; it must be there already."""
    return put_lines(*opened(path), data, path)


def put_lines(fd: int, size: int, inode: int, data: bytes, path: str) -> Appended:
    """A torn last line of somebody else is closed first; on a full disk nothing of ours stays."""
    try:
        torn = size > 0 and disk.pread(fd, 1, size - 1) != b"\n"
        text = b"\n" + data if torn else data
        put(fd, text, size, path)
    except BaseException:
        disk.close(fd)
        raise
    return Appended(fd, size + len(text), inode)


def line(path: str, data: bytes) -> None:
    """Append without waiting for the disk: for histories and logs."""
    append(path, data).close()


def held(path: str) -> tuple[int, int, int]:
    """(descriptor, size, inode), locked; opened again when the file was replaced meanwhile."""
    while True:
        fd = disk.open(path, FLAGS, 0o600)
        try:
            disk.flock(fd, disk.LOCK_EX)
            mine = regular(disk.fstat(fd), path)
            if disk.has_name(mine, path):
                return fd, mine.st_size, mine.st_ino
        except BaseException:
            disk.close(fd)
            raise
        disk.close(fd)


def opened(path: str) -> tuple[int, int, int]:
    """(descriptor, size, inode) without a lock of its own."""
    fd = disk.open(path, FLAGS & ~disk.O_CREAT)
    try:
        mine = regular(disk.fstat(fd), path)
    except BaseException:
        disk.close(fd)
        raise
    return fd, mine.st_size, mine.st_ino


def regular(mine: "stat_result", path: str) -> "stat_result":
    """What is written into a pipe that somebody put here would be gone."""
    if not disk.is_file(mine):
        raise OSError(NOT_A_FILE, "Not a regular file", path)
    return mine


def put(fd: int, text: bytes, start: int, path: str) -> None:
    written = disk.write(fd, text)
    if written == len(text):
        return
    try:  # the rest says why: usually that the disk is full
        while written < len(text):
            written += disk.write(fd, text[written:])
    except OSError as error:
        if disk.fstat(fd).st_size == start + written:
            disk.ftruncate(fd, start)
        raise refused(f"add to {path}", error) from error
