"""A user's command tried in some folder, to its end; what it printed last is kept."""

import os
import subprocess
import tempfile
from typing import NamedTuple

from ibstatus.system.git import start
from ibstatus.system.process import run as processes
from ibstatus.system.process import user_processes

LAST_BYTES, LAST_LINES = 1 << 14, 20
BETWEEN = 'sh -c "$1"; exit $?'  # a shell in between: what ends its parent ends that one, and not us


class Tried(NamedTuple):
    code: int
    last: list[str]


def run(command: str, cwd: str) -> Tried:
    """Output goes to a file: what the command leaves running in the background cannot keep us here."""
    env = {key: value for key, value in os.environ.items() if key not in start.POINTERS}
    with tempfile.TemporaryFile() as out:
        code = waited_for(
            subprocess.Popen(
                ["sh", "-c", BETWEEN, "sh", command],
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        )
        out.seek(max(0, out.seek(0, os.SEEK_END) - LAST_BYTES))
        return Tried(code, processes.text(out.read()).splitlines()[-LAST_LINES:])


def waited_for(running: "subprocess.Popen[bytes]") -> int:
    """When we are cut off, or the shell in between is, it is ended with all that it has started."""
    try:
        code = running.wait()
        if code < 0:
            left = user_processes.of_session(running.pid)
            user_processes.end(left, left)
        return code
    except BaseException:
        family = user_processes.family(running.pid)
        user_processes.end(family, family)
        running.wait()
        raise
