"""The fault seam: the n-th file operation raises, or kills the process. In this process or in a child.

In a test:            faults.arm(3, errno.ENOSPC) … faults.disarm()
As a whole program:   python -m tests.faults KILL 3 -- notify hello      (the third operation kills it with SIGKILL)
"""

import errno
import os
import signal
import sys
from collections.abc import Callable
from inspect import isfunction
from typing import Any

from ibstatus.system import disk

# Every name of the seam that is the system's own; what is written in Python is made of those.
OPERATIONS = tuple(name for name, value in vars(disk).items() if callable(value) and not isfunction(value))
HARMLESS = ("close",)  # an fd is closed even when close() reports an error: failing it would only leak


class Faults:
    """Counts operations; at the armed one it raises `error` (or kills). `seen` is how many there were."""

    def __init__(self) -> None:
        self.real: dict[str, Callable[..., Any]] = {}
        self.seen = 0
        self.at = 0
        self.error: int | None = None
        self.trace: list[str] = []

    def arm(self, at: int, error: int | None = None, *, keep: bool = False) -> None:
        """Fail operation number `at` (from 1) with this errno; None kills the process. `keep`: all later ones too."""
        self.disarm()
        self.seen, self.at, self.error, self.keep, self.trace = 0, at, error, keep, []
        for name in OPERATIONS:
            self.real[name] = getattr(disk, name)
            setattr(disk, name, self.wrapped(name, self.real[name]))

    def wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def operation(*args: Any, **kwargs: Any) -> Any:
            if name in HARMLESS and self.error is not None:
                return real(*args, **kwargs)
            self.seen += 1
            self.trace.append(name)
            if self.seen == self.at or (self.keep and self.seen > self.at > 0):
                self.strike(name, args)
            return real(*args, **kwargs)

        return operation

    def strike(self, name: str, args: tuple[Any, ...]) -> None:
        if self.error is None:
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(
            self.error, os.strerror(self.error or errno.EIO), args[0] if args and isinstance(args[0], str) else None
        )

    def disarm(self) -> None:
        for name, real in self.real.items():
            setattr(disk, name, real)
        self.real = {}


def program(argv: list[str]) -> int:
    """Run `ib` with one armed operation; exit code 77 says that the operation was never reached."""
    what, at, _, *command = argv
    seam = Faults()
    seam.arm(int(at), None if what == "KILL" else getattr(errno, what))
    from ibstatus.__main__ import main

    code = main(command)
    sys.stdout.flush()
    reached = seam.seen >= int(at)
    return code if reached else 77


if __name__ == "__main__":
    os._exit(program(sys.argv[1:]))
