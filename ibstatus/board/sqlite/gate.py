"""The gate in front of every change: one after the other, and whoever has just been in goes to the end of the queue.

SQLite's own busy handler starves whoever waits longest. A single flock is won again by who has just given it back,
before the others are awake; so there are two: who waits for the inner one holds the outer one, and the next wait there.
Who slips past, because somebody removed the files that one of us has open, meets SQLite's lock: here is order, not
safety, and no second look.
"""

from ibstatus.system import disk, locks


class Gate:
    """`path` is the inner lock; a kill gives both back."""

    __slots__ = ("inner", "outer")

    def __init__(self, path: str) -> None:
        self.inner = Latch(path)
        self.outer = Latch(path + "-next")

    def __enter__(self) -> "Gate":
        self.outer.take()
        try:
            self.inner.take()
        finally:
            try:
                self.outer.give()
            except BaseException:
                self.inner.shut()
                raise
        return self

    def __exit__(self, *exc: object) -> None:
        self.inner.give()

    def close(self) -> None:
        self.inner.shut()
        self.outer.shut()


class Latch:
    """A lock whose file stays open. It is not to be carried over a fork, which would share it."""

    __slots__ = ("fd", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.fd = -1

    def take(self) -> None:
        if self.fd < 0:
            self.fd = locks.opened(self.path)
        try:
            disk.flock(self.fd, disk.LOCK_EX)
        except BaseException:
            self.shut()
            raise

    def give(self) -> None:
        """However that ends, it is free: closing gives back what could not be unlocked."""
        try:
            disk.flock(self.fd, disk.LOCK_UN)
        except BaseException as error:
            self.shut()
            if not isinstance(error, OSError):
                raise

    def shut(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            disk.close(fd)
