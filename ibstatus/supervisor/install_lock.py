"""What a supervisor stands on, beside its repository: the installation that it is, and its lock.

The clocks of the machine, in one place so that a simulation can put its own in.
"""

import os
import time

import ibstatus
from ibstatus.model.clock import Clock
from ibstatus.project import paths, supervisor_process
from ibstatus.system import atomic, disk, locks

GONE = "the repository is gone"
PAST_PROBES = 5.0


def package_state() -> tuple[int, int]:
    """Changes when ib is installed anew."""
    try:
        status = os.stat(ibstatus.__file__)
    except OSError:
        return (0, 0)
    return (status.st_ino, status.st_mtime_ns)


def sign(place: paths.Place, lock: locks.Lock) -> None:
    try:
        supervisor_process.sign(lock)
        atomic.put(supervisor_process.pid_file_of(place), b"%d\n" % os.getpid(), durable=False)
    except OSError:
        return  # on a full disk we supervise all the same


def unsign(place: paths.Place) -> None:
    try:
        if disk.read_file(supervisor_process.pid_file_of(place)) == b"%d\n" % os.getpid():
            disk.unlink(supervisor_process.pid_file_of(place))
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


BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> Clock:
    return Clock(time.monotonic(), time.clock_gettime(BOOT), time.time())
