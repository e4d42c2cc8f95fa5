"""Clears a simulation away whose own process was killed: started beside it, it reads until that is gone.

argv: FOLDER; on stdin, `done` from one that has cleared up by itself.
"""

import subprocess
import sys

DONE = b"done"


def beside(folder: str) -> "subprocess.Popen[bytes]":
    """In a session of its own, and without anything in its environment by which it would be taken for a part."""
    argv = [sys.executable, "-P", "-m", __name__, folder]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        argv, cwd="/", stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, bufsize=0, start_new_session=True
    )


def dismiss(watching: "subprocess.Popen[bytes]") -> None:
    try:
        watching.communicate(DONE)
    except OSError:
        return  # somebody has ended it


def main(folder: str) -> None:
    from ibstatus.ops.simulation import world

    if sys.stdin.buffer.read() != DONE:
        world.clear(folder)


if __name__ == "__main__":
    main(sys.argv[1])
