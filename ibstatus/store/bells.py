"""notify/bells/<pid>: one FIFO a waiter. A writer rings all without blocking; a bell says `look`, never what."""

import posix
import time

from ibstatus.store import atomic, disk, places

DEAD_AFTER = 60
NOBODY = 6  # ENXIO: a FIFO that nobody has open


def ring(place: places.Place) -> int:
    """Ring every bell; returns how many waiters heard it. What nobody holds any more is cleared away.

    Never fails: the line is written, and a waiter who is not rung looks by itself."""
    try:
        bells = disk.listdir(place.bells)
    except OSError:
        return 0
    heard = 0
    for bell in bells:
        path = f"{place.bells}/{bell}"
        try:
            fd = disk.open(path, disk.O_WRONLY | disk.O_NONBLOCK | disk.O_CLOEXEC)
        except OSError as error:
            if error.errno == NOBODY:
                clear(path)
            continue
        try:
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

    __slots__ = ("fd", "path", "poll")

    def __init__(self, place: places.Place) -> None:
        import select

        self.path = f"{place.bells}/{posix.getpid()}"
        self.fd = self.opened(place)
        self.poll = select.poll()
        if self.fd >= 0:
            self.poll.register(self.fd, select.POLLIN)

    def opened(self, place: places.Place) -> int:
        """-1 where no FIFO can be made: then the look once a second is all there is."""
        try:
            disk.make_dirs(place.bells)
            atomic.forget(self.path)
            disk.mkfifo(self.path, 0o600)
            return disk.open(self.path, disk.O_RDWR | disk.O_NONBLOCK | disk.O_CLOEXEC)
        except OSError:
            return -1

    def wait(self, seconds: float) -> bool:
        """True when rung within this time."""
        if not self.poll.poll(max(0, int(seconds * 1000 + 0.999))):
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
