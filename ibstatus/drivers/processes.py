"""Other programs, run to their end or started beside us. Return values, never output of our own."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import NamedTuple

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


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def apart(home: str) -> dict[str, str]:
    """An environment for throw-away work: another HOME, and nothing of tmux, Claude, git or ib from outside."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(FOREIGN)}
    who = {"NAME": "ib demo", "EMAIL": "demo@example.invalid"}
    names = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    return {**kept, **names, "HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}
