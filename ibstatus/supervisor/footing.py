"""What a supervisor stands on: the repository, the installation that it is, and its lock."""

import os
import time

import ibstatus
from ibstatus.drivers import daemon
from ibstatus.store import atomic, disk, locks, places

GONE = "the repository is gone"
PAST_PROBES = 5.0
QUIET, PATIENCE = 0.3, 3.0


def inode_of(path: str) -> int:
    """0 when it is gone."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def stays(place: places.Place, repository: int) -> bool:
    """Only the folder was taken away. Whoever removes all of the repository may begin with it, and could not remove
    what has something in it again."""
    seen, until = None, time.monotonic() + PATIENCE
    while inode_of(place.common) == repository:
        now = (names_in(place.root), names_in(place.common))
        if now == seen or time.monotonic() > until:
            return True
        seen = now
        time.sleep(QUIET)
    return False


def names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def package_state() -> tuple[int, int]:
    """Changes when ib is installed anew."""
    try:
        status = os.stat(ibstatus.__file__)
    except OSError:
        return (0, 0)
    return (status.st_ino, status.st_mtime_ns)


def sign(place: places.Place, lock: locks.Lock) -> None:
    try:
        daemon.sign(lock)
        atomic.put(daemon.pid_file_of(place), b"%d\n" % os.getpid(), durable=False)
    except OSError:
        return  # on a full disk we supervise all the same


def unsign(place: places.Place) -> None:
    try:
        if disk.read_file(daemon.pid_file_of(place)) == b"%d\n" % os.getpid():
            disk.unlink(daemon.pid_file_of(place))
    except OSError:
        return


def taken(lock: locks.Lock) -> bool:
    """Of many who only look whether we run, one may be stopped while it does: it is waited out, a holder is not."""
    deadline = time.monotonic() + PAST_PROBES
    while not lock.try_take():
        if locks.is_held(lock.path) or time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
