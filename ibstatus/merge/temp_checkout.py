"""A checkout for a moment, in the temp folder. What a killed command has left of one is found by the next."""

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ibstatus.errors import IbError
from ibstatus.system import locks
from ibstatus.system.git import index, refs, worktrees
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
            user_processes.end(left, left)
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
