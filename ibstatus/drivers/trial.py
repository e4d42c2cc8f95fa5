"""A user's command tried in some folder, to its end; what it printed last is kept."""

import os
import subprocess
import tempfile
from typing import NamedTuple

from ibstatus.drivers import git, processes

LAST_BYTES, LAST_LINES = 1 << 14, 20


class Tried(NamedTuple):
    code: int
    last: list[str]


def run(command: str, cwd: str) -> Tried:
    """Output goes to a file: what the command leaves running in the background cannot keep us here."""
    env = {key: value for key, value in os.environ.items() if key not in git.POINTERS}
    with tempfile.TemporaryFile() as out:
        argv = ["sh", "-c", command]
        done = subprocess.run(
            argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, check=False
        )
        out.seek(max(0, out.seek(0, os.SEEK_END) - LAST_BYTES))
        return Tried(done.returncode, processes.text(out.read()).splitlines()[-LAST_LINES:])
