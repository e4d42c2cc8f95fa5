"""Run one ib command in a process that is killed (-9) at its n-th step: a file that appears or goes, a program run."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ibstatus.system import disk
from tests import forked

STEPS = ("rename", "unlink", "mkdir", "link", "rmdir", "write")


class Counter:
    """Dies at the `left`-th step."""

    def __init__(self, left: int) -> None:
        self.left = left

    def step(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            self.step()
            return real(*args, **options)

        return call

    def ran(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            self.step()
            done = real(*args, **options)
            self.step()
            return done

        return call


def program(at: int, argv: list[str]) -> int:
    """In the process that is to die."""
    counter = Counter(at)
    for name in STEPS:
        setattr(disk, name, counter.counted(getattr(disk, name)))
    subprocess.run = counter.ran(subprocess.run)  # type: ignore[assignment]
    from ibstatus import __main__

    code = __main__.main(argv)
    print("steps", -counter.left, file=sys.stderr)
    return code


class Killed:
    """`code` is None when it was killed before its end."""

    def __init__(self, code: int | None, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err


def run_ib(at: int, *args: str, cwd: Path | str, env: dict[str, str] | None = None) -> Killed:
    """Killed at its `at`-th step; one that has fewer steps runs to its end."""
    code, out, err = forked.run(list(args), str(cwd), {**os.environ, **(env or {})}, None, forked.STEP, at)
    return Killed(None if code == -signal.SIGKILL else code, out.decode(), err.decode())
