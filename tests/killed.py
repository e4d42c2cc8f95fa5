"""Run one ib command in a process that is killed (-9) at its n-th step: a file that appears or goes, a program run."""

import os
import signal
import subprocess
import sys
from pathlib import Path

STEPS = ("rename", "unlink", "mkdir", "link", "rmdir", "write")

CHILD = """
import os, signal, subprocess, sys

from ibstatus.store import disk

STEPS = {steps!r}
left = int(sys.argv[1])


def step():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


def counted(real):
    def call(*args, **options):
        step()
        return real(*args, **options)

    return call


for name in STEPS:
    setattr(disk, name, counted(getattr(disk, name)))
run, popen = subprocess.run, subprocess.Popen.__init__


def ran(*args, **options):
    step()
    done = run(*args, **options)
    step()
    return done


subprocess.run = ran

from ibstatus import __main__

code = __main__.main(sys.argv[2:])
print("steps", -left, file=sys.stderr)
sys.exit(code)
"""


class Killed:
    """`code` is None when it was killed before its end."""

    def __init__(self, code: int | None, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err


def run_ib(at: int, *args: str, cwd: Path | str, env: dict[str, str] | None = None) -> Killed:
    """Killed at its `at`-th step; one that has fewer steps runs to its end."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(steps=STEPS), str(at), *args],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    code = None if done.returncode == -signal.SIGKILL else done.returncode
    return Killed(code, done.stdout, done.stderr)
