"""<folder>/<pid>: one FIFO a waiter. A writer rings all without blocking; a bell says `look`, never what.

notify/bells is the folder of who waits for mail, board-bells of who waits for the board."""

import posix
import time

from ibstatus.system import atomic, disk

DEAD_AFTER = 60
RING = disk.O_WRONLY | disk.O_NONBLOCK | disk.O_NOFOLLOW | disk.O_CLOEXEC
NOBODY = 6  # ENXIO: a FIFO that nobody has open


def ring(folder: str) -> int:
    """Ring every bell of the folder; returns how many waiters heard it. What nobody holds any more is cleared away.

    Never fails: the line is written, and a waiter who is not rung looks by itself."""
    try:
        bells = disk.listdir(folder)
    except OSError:
        return 0
    heard = 0
    for bell in bells:
        path = f"{folder}/{bell}"
        try:
            fd = disk.open(path, RING)
        except OSError as error:
            if error.errno == NOBODY:
                clear(path)
            continue
        try:
            if not disk.is_fifo(disk.fstat(fd)):
                continue  # not ours: a ring would spoil it
            disk.write(fd, b"!")
            heard += 1
        except BlockingIOError:
            heard += 1  # full of rings already: the waiter will look
        except OSError:
            pass
        finally:
            disk.close(fd)
    return heard


def clear(path: str) -> None:
    try:
        if time.time() - disk.lstat(path).st_mtime > DEAD_AFTER:
            disk.unlink(path)
    except OSError:
        pass


class Bell:
    """The waiter's side. Opened before the first look, so that no ring falls in between."""

    __slots__ = ("broken", "fd", "path", "poll", "stdout")

    def __init__(self, folder: str, stdout: int = -1) -> None:
        """`stdout`: where the news would go; `wait` also ends when its reader is gone."""
        import select

        self.path = ""
        self.fd = self.opened(folder)
        self.poll = select.poll()
        if self.fd >= 0:
            self.poll.register(self.fd, select.POLLIN)
        self.stdout = stdout
        self.broken = False
        if stdout >= 0:
            self.poll.register(stdout, 0)  # nothing but errors

    def opened(self, folder: str) -> int:
        """-1 where no FIFO can be made: then the look once a second is all there is."""
        try:
            disk.make_dirs(folder)
            self.path = made(f"{folder}/{posix.getpid()}")
            return disk.open(self.path, disk.O_RDWR | disk.O_NONBLOCK | disk.O_CLOEXEC)
        except OSError:
            return -1

    def wait(self, seconds: float) -> bool:
        """True when rung within this time."""
        ready = self.poll.poll(max(0, int(seconds * 1000 + 0.999)))
        if not ready:
            return False
        self.broken = any(fd == self.stdout for fd, _ in ready)
        if not any(fd == self.fd for fd, _ in ready):
            return False
        try:
            disk.read(self.fd, 4096)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        if self.fd >= 0:
            disk.close(self.fd)
            atomic.forget(self.path)
            self.fd = -1


def made(path: str) -> str:
    """A FIFO of this name or of the next: in two sandboxes a pid can be the same, and each needs its bell."""
    name, number = path, 1
    while True:
        try:
            disk.mkfifo(name, 0o600)
            return name
        except FileExistsError:
            if is_heard(name):
                number += 1
                name = f"{path}.{number}"
            else:
                disk.unlink(name)


def is_heard(bell: str) -> bool:
    try:
        if not disk.is_fifo(disk.lstat(bell)):
            return False
        disk.close(disk.open(bell, RING))
    except OSError:
        return False
    return True
