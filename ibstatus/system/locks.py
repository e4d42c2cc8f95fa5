"""Locks: `flock` on files under .ittybitty/locks/ that are never unlinked. A held lock is also a sign of life.

Held together only in this order: a base of the merge queue < spawn < one agent's work < typing to one agent < setup
< supervisor < node < init < fold < messages < questions < one cursor < queue < one agent < git.
`board` is held within one call of the board's store alone, where no other is taken: it is the innermost of all.
"""

from ibstatus.system import disk

FLAGS = disk.O_RDWR | disk.O_CREAT | disk.O_CLOEXEC
TRIES_PAST_PROBES = 200


class Lock:
    """`with Lock(path):` waits; `Lock(path).try_take()` does not."""

    __slots__ = ("fd", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.fd = -1

    def __enter__(self) -> "Lock":
        while True:
            fd = opened(self.path)
            try:
                disk.flock(fd, disk.LOCK_EX)
                current = disk.has_name(disk.fstat(fd), self.path)
            except BaseException:
                disk.close(fd)
                raise
            if current:
                self.fd = fd
                return self
            disk.close(fd)

    def __exit__(self, *exc: object) -> None:
        self.release()

    def try_take(self) -> bool:
        """Take it without waiting. A mere probe (LOCK_SH) by somebody else is waited out, a holder is not."""
        for _ in range(TRIES_PAST_PROBES):
            fd = opened(self.path)
            try:
                disk.flock(fd, disk.LOCK_EX | disk.LOCK_NB)
                if disk.has_name(disk.fstat(fd), self.path):
                    self.fd = fd
                    return True
                disk.close(fd)
            except BlockingIOError:
                try:
                    held = not shared(fd)
                finally:
                    let_go(fd)
                if held:
                    return False
            except BaseException:
                disk.close(fd)
                raise
        return False

    def is_mine(self) -> bool:
        """False when the file was removed (git clean) while held: then somebody else can take the lock as well."""
        return self.fd >= 0 and disk.has_name(disk.fstat(self.fd), self.path)

    def release(self) -> None:
        if self.fd >= 0:
            fd, self.fd = self.fd, -1
            let_go(fd)


def is_held(path: str) -> bool:
    """Is somebody alive behind this lock? Asked with LOCK_SH: an exclusive probe would be a lock itself."""
    try:
        fd = disk.open(path, disk.O_RDONLY | disk.O_NONBLOCK | disk.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not shared(fd)
    finally:
        let_go(fd)


def let_go(fd: int) -> None:
    """Not by closing alone: what another thread begins at this moment has a copy of it until it is a program."""
    try:
        disk.flock(fd, disk.LOCK_UN)
    except OSError:
        pass  # closing it is as good, but for that copy
    finally:
        disk.close(fd)


def shared(fd: int) -> bool:
    try:
        disk.flock(fd, disk.LOCK_SH | disk.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def opened(path: str) -> int:
    return disk.open_in_folder(path, FLAGS)
