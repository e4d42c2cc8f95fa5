"""The system call that swaps two names, which Python does not have: renameat2 on Linux, renamex_np on macOS."""

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Callable
from functools import cache

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
