"""The gate in front of every change: one after the other, and whoever has just been in goes to the end of the queue.

SQLite's own busy handler starves whoever waits longest. A single flock is won again by who has just given it back,
before the others are awake; so there are two: who waits for the inner one holds the outer one, and the next wait there.
Who slips past, because somebody removed the files, meets SQLite's lock: here is order, not safety, and no second look.
"""

from ibstatus.store import disk, locks


class Gate:
    """`path` is the inner lock; a kill gives both back."""

    __slots__ = ("fd", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.fd = -1

    def __enter__(self) -> "Gate":
        outer = taken(self.path + "-next")
        try:
            self.fd = taken(self.path)
        finally:
            disk.close(outer)
        return self

    def __exit__(self, *exc: object) -> None:
        fd, self.fd = self.fd, -1
        disk.close(fd)


def taken(path: str) -> int:
    fd = locks.opened(path)
    try:
        disk.flock(fd, disk.LOCK_EX)
    except BaseException:
        disk.close(fd)
        raise
    return fd
