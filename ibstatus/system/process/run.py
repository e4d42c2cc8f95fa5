"""Other programs, run to their end or started beside us. Return values, never output of our own.

Programs on this machine: where they are, and which version they say they have.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import psutil


PTS = 136  # major number of pseudo terminals
FOREIGN = ("TMUX", "CLAUDE", "ANTHROPIC", "IB_", "_IB_", "GIT_")


class Ended(NamedTuple):
    """How a program ended, its output as text whatever the bytes."""

    code: int
    out: str
    err: str


def run(argv: Sequence[str], cwd: str, env: Mapping[str, str] | None = None) -> Ended:
    """Run to the end with nothing on stdin."""
    done = subprocess.run(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return Ended(done.returncode, text(done.stdout), text(done.stderr))


def start(argv: Sequence[str], cwd: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start beside us, output to be read from its `stdout`."""
    return subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)


def running() -> "Iterator[psutil.Process]":
    """All of this machine. `psutil.process_iter` would keep what it has found once, and take who was given the number
    since for the one that is gone."""
    import psutil

    for pid in psutil.pids():
        try:
            yield psutil.Process(pid)
        except psutil.Error:
            continue


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def apart(home: str) -> dict[str, str]:
    """An environment for throw-away work: another HOME, and nothing of tmux, Claude, git or ib from outside."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(FOREIGN)}
    who = {"NAME": "ib demo", "EMAIL": "demo@example.invalid"}
    names = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    return {**kept, **names, "HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}


def terminal_of(process: "psutil.Process") -> str:
    """'' when it has none. psutil finds only terminals that were there when it looked for the first time."""
    try:
        with open(f"/proc/{process.pid}/stat", "rb") as file:
            number = int(file.read().rpartition(b")")[2].split()[4])
    except (OSError, ValueError, IndexError):
        return process.terminal() or ""
    if not number:
        return ""
    return f"/dev/pts/{os.minor(number)}" if os.major(number) == PTS else process.terminal() or f"terminal {number}"


PATIENCE = 10.0


def path_of(program: str) -> str:
    """Where a shell would find it, or ''."""
    return shutil.which(program) or ""


def first_line(argv: Sequence[str]) -> str:
    """The first line that the program prints; '' when it is missing, fails or does not end."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return text(done.stdout).partition("\n")[0].strip() if done.returncode == 0 else ""
