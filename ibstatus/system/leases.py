"""Leases: proof that nobody else has a file open. Whoever opens it meanwhile waits until the lease is let go.

The kernel's signal to the holder is SIGURG instead of SIGIO: it is ignored by default, so that nothing of the
process has to be changed for it, in whatever thread this runs.
"""

import errno
import signal
from typing import Literal

from ibstatus.system import disk

SIGNAL = int(signal.SIGURG)
Answer = Literal["granted", "refused", "none"]

GRANTED: Answer = "granted"
REFUSED: Answer = "refused"  # somebody has it open
NONE: Answer = "none"  # there are no leases here: another system, a network file system, not our file


def take(fd: int, kind: int = disk.F_WRLCK) -> Answer:
    """Alone with the file (F_WRLCK), or without a writer (F_RDLCK; the descriptor must be read-only)."""
    if disk.F_SETLEASE < 0:
        return NONE
    try:
        disk.control(fd, disk.F_SETSIG, SIGNAL)
        disk.control(fd, disk.F_SETLEASE, kind)
    except OSError as error:
        return REFUSED if error.errno == errno.EAGAIN else NONE
    return GRANTED


def is_mine(fd: int) -> bool:
    """Nobody waits at the door, and the kernel has not taken the lease away (it does after 45 s)."""
    return disk.control(fd, disk.F_GETLEASE) == disk.F_WRLCK


def drop(fd: int) -> None:
    disk.control(fd, disk.F_SETLEASE, disk.F_UNLCK)


def writers(fd: int) -> Answer:
    """Has anybody the file open for writing? `granted`: nobody. For a read-only descriptor."""
    answer = take(fd, disk.F_RDLCK)
    if answer == GRANTED:
        drop(fd)
    return answer
