"""Leases: proof that nobody else has a file open. Whoever opens it meanwhile waits until the lease is let go.

The kernel's signal to the holder is SIGURG instead of SIGIO: it is ignored by default, so that nothing of the
process has to be changed for it, in whatever thread this runs.

The system call that swaps two names, which Python does not have: renameat2 on Linux, renamex_np on macOS.
"""

import ctypes
import errno
import os
import platform
import signal
import sys
from collections.abc import Callable
from functools import cache
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


AT_FDCWD = -100
RENAME_EXCHANGE = 2
RENAME_SWAP = 2
NUMBERS = {"x86_64": 316, "aarch64": 276, "riscv64": 276}  # of renameat2, for a C library that lacks it


def swap(one: str, other: str) -> None:
    if call()(os.fsencode(one), os.fsencode(other)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), other)


@cache
def call() -> Callable[[bytes, bytes], int]:
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin":
        renamex: Callable[..., int] = library.renamex_np
        return lambda one, other: renamex(one, other, RENAME_SWAP)
    named: Callable[..., int] | None = getattr(library, "renameat2", None)
    number = NUMBERS.get(platform.machine())
    if named is not None:
        return lambda one, other: named(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)
    if number is not None:
        bare: Callable[..., int] = library.syscall
        return lambda one, other: bare(number, AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)
    return missing


def missing(one: bytes, other: bytes) -> int:
    ctypes.set_errno(errno.ENOSYS)
    return -1
