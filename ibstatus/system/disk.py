"""Every file operation of the house goes through these names, so that a test can make the n-th one fail.

Other modules write `disk.open(…)`, never `from … import open`: the seam is the attribute.
"""

import fcntl
import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import stat_result
    from typing import Any

O_APPEND = posix.O_APPEND
O_CLOEXEC = posix.O_CLOEXEC
O_CREAT = posix.O_CREAT
O_EXCL = posix.O_EXCL
O_NOFOLLOW = posix.O_NOFOLLOW
O_NONBLOCK = posix.O_NONBLOCK
O_RDONLY = posix.O_RDONLY
O_RDWR = posix.O_RDWR
O_WRONLY = posix.O_WRONLY
LOCK_EX = fcntl.LOCK_EX
LOCK_NB = fcntl.LOCK_NB
LOCK_SH = fcntl.LOCK_SH
LOCK_UN = fcntl.LOCK_UN
# Leases and the choice of their signal are Linux's own.
F_GETLEASE = getattr(fcntl, "F_GETLEASE", -1)
F_RDLCK = fcntl.F_RDLCK
F_SETLEASE = getattr(fcntl, "F_SETLEASE", -1)
F_SETSIG = getattr(fcntl, "F_SETSIG", -1)
F_UNLCK = fcntl.F_UNLCK
F_WRLCK = fcntl.F_WRLCK

chmod = posix.chmod
close = posix.close
control = fcntl.fcntl
fchmod = posix.fchmod
fchown = posix.fchown
flock = fcntl.flock
fstat = posix.fstat
fsync = posix.fsync
ftruncate = posix.ftruncate
link = posix.link
listdir = posix.listdir
lstat = posix.lstat
mkdir = posix.mkdir
mkfifo = posix.mkfifo
open = posix.open
pread = posix.pread
pwrite = posix.pwrite
read = posix.read
readlink = posix.readlink
rename = posix.rename
rmdir = posix.rmdir
stat = posix.stat
unlink = posix.unlink
utime = posix.utime
write = posix.write
# macOS has no fdatasync.
fdatasync = getattr(posix, "fdatasync", posix.fsync)
# Nor does its Python know extended attributes.
getxattr: "Any" = getattr(posix, "getxattr", None)
listxattr: "Any" = getattr(posix, "listxattr", None)
setxattr: "Any" = getattr(posix, "setxattr", None)


class Exchange:
    """Two names swap their files in one step. An object, so that the seam counts it as one operation."""

    def __call__(self, one: str, other: str) -> None:
        from ibstatus.system import exchange_names  # ctypes is slow to load, and most never need it

        exchange_names.swap(one, other)


exchange = Exchange()


def environ(name: str) -> str:
    """A variable of the environment; '' when it is not set."""
    return posix.environ.get(name.encode(), b"").decode("utf-8", "surrogateescape")


def read_all(fd: int) -> bytes:
    """Everything from the descriptor's position to the end of the file."""
    chunks = []
    while chunk := read(fd, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)


def read_file(path: str) -> bytes:
    """The whole file; a FIFO that somebody put there reads as empty, and nobody hangs on it."""
    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    try:
        return read_all(fd)
    finally:
        close(fd)


def read_ours(path: str, most: int) -> bytes:
    """A file that we made, and that somebody may have put something else in the place of: no link is followed."""
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    try:
        status = fstat(fd)
        if not is_file(status) or status.st_size > most:
            raise OSError(22, "Not a regular file, or too big", path)
        return pread(fd, status.st_size, 0)
    finally:
        close(fd)


def write_all(fd: int, data: "bytes | memoryview") -> None:
    """To a pipe or a new file, where a short write is just continued."""
    view = memoryview(data)
    while view:
        try:
            view = view[write(fd, view) :]
        except BlockingIOError:  # a pipe that the caller made so: its reader is slow, not gone
            import select

            select.select([], [fd], [])


def is_file(status: "stat_result") -> bool:
    return status.st_mode & 0o170000 == 0o100000


def is_fifo(status: "stat_result") -> bool:
    return status.st_mode & 0o170000 == 0o010000


def has_name(status: "stat_result", path: str) -> bool:
    """Is the file of this status the one that has the name now? It may have been removed, moved or replaced."""
    try:
        there = stat(path)
    except FileNotFoundError:
        return False
    return (there.st_ino, there.st_dev) == (status.st_ino, status.st_dev)


def exists(path: str) -> bool:
    try:
        stat(path)
    except OSError:
        return False
    return True


def open_in_folder(path: str, flags: int, mode: int = 0o600) -> int:
    """The folder is made when it is missing: asked for only then, because it seldom is."""
    try:
        return open(path, flags, mode)
    except FileNotFoundError:
        make_dirs(path.rpartition("/")[0])
        return open(path, flags, mode)


def make_dirs(path: str, mode: int = 0o700) -> None:
    """Like `mkdir -p`; only what is missing is made."""
    try:
        mkdir(path, mode)
    except FileExistsError:
        return
    except FileNotFoundError:
        parent = path.rpartition("/")[0]
        if not parent:
            raise
        make_dirs(parent, mode)
        try:
            mkdir(path, mode)
        except FileExistsError:
            return
