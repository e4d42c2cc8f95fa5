"""A checkout for a moment, in the temp folder. What a killed command has left of one is found by the next.

A user's command tried in some folder, to its end; what it printed last is kept.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.system import locks
from ibstatus.system.git import index, refs, start, worktrees
from ibstatus.system.process import run as processes
from ibstatus.system.process import user_processes

PREFIX = "ib-checkout-"
SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Told(KeyboardInterrupt):
    """SIGTERM or SIGHUP: as Ctrl-C, so what is in the temp folder goes first."""


@contextmanager
def checkout(cwd: str, commit: str) -> Iterator[str]:
    """Detached, at this commit, without hooks; gone afterwards, also when we are told to end."""
    sweep(cwd)
    with ended_when_told():
        folder = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX))
        path = folder + "/repo"
        with locks.Lock(folder + "/held"):
            try:
                add(cwd, path, commit)
                yield path
            finally:
                remove(cwd, folder)


def add(cwd: str, path: str, commit: str) -> None:
    quiet = (*index.QUIETLY, "worktree", "add", "--quiet", "--force", "--detach")
    done = refs.asked(cwd, *quiet, path, commit)
    if done.code:
        raise IbError("git could not check it out", cause=refs.complaint(done.err), hint="git worktree list")


def remove(cwd: str, folder: str) -> None:
    refs.asked(cwd, "worktree", "remove", "--force", "--force", folder + "/repo")
    shutil.rmtree(folder, ignore_errors=True)


def sweep(cwd: str) -> None:
    """Those of this repository whose holder is dead, with the tests that still run there; a person may look on."""
    for tree in worktrees.worktrees(cwd):
        folder, _, leaf = tree.path.rpartition("/")
        if leaf == "repo" and os.path.basename(folder).startswith(PREFIX) and is_left(folder):
            left = [one for one in user_processes.inside(tree.path) if one.terminal() is None]
            user_processes.end_processes(left, left)
            remove(cwd, folder)


def is_left(folder: str) -> bool:
    """What we may not look at, or has not our lock in it, is somebody else's."""
    try:
        return os.path.isfile(folder + "/held") and not locks.is_held(folder + "/held")
    except OSError:
        return False


@contextmanager
def ended_when_told() -> Iterator[None]:
    """In another thread than the main one nobody can be told."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        for one in SIGNALS:
            signal.signal(one, signal.SIG_IGN)  # once is enough: the rest is cleaning up
        raise Told

    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
            user_processes.end_processes(left, left)
        return code
    except BaseException:
        family = user_processes.family(running.pid)
        user_processes.end_processes(family, family)
        running.wait()
        raise
