"""Clears a simulation away whose own process was killed: started beside it, it reads until that is gone.

argv: FOLDER; on stdin, `done` from one that has cleared up by itself.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator

from ibstatus.system.process import run

DONE = b"done"
SOCKET = "ib"
ROUNDS = 3  # what is killed may have started something meanwhile


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
    if sys.stdin.buffer.read() != DONE:
        clear(folder)


def clear(folder: str, *, keep: bool = False) -> None:
    """All that runs there, and the files."""
    for socket in (SOCKET, "sim"):
        try:
            run.run(["tmux", "-L", socket, "kill-server"], "/", {**os.environ, "TMUX_TMPDIR": folder + "/tmux"})
        except OSError:
            pass
    for _ in range(ROUNDS):
        for pid, _ in list(processes_in(folder)):
            signalled(pid, signal.SIGKILL)
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)


def processes_in(folder: str) -> Iterator[tuple[int, list[str]]]:
    """Every process that runs in this world, by its environment."""
    mark = f"={folder}/".encode()
    for leaf in os.listdir("/proc"):
        if not leaf.isdigit() or int(leaf) == os.getpid():
            continue
        try:
            with open(f"/proc/{leaf}/environ", "rb") as file:
                inside = mark in file.read()
            with open(f"/proc/{leaf}/cmdline", "rb") as file:
                words = [os.fsdecode(word) for word in file.read().split(b"\0")]
        except OSError:
            continue
        if inside and any(words):
            yield int(leaf), words


def signalled(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        return


if __name__ == "__main__":
    main(sys.argv[1])
