"""Somebody's git that is about to have another branch: it has read where that is, and of what comes then, HEAD is last,
when the lock on the index is long gone. No file tells of it."""

import os
import time
from collections.abc import Collection, Sequence

import psutil

from ibstatus.rules import git_words

PATIENCE, STEP = 3.0, 0.02


def let(checkouts: Sequence[str]) -> None:
    """Until those have ended that are at it now in one of these."""
    running, deadline = found(checkouts), time.monotonic() + PATIENCE
    while any(map(lives, running)) and time.monotonic() < deadline:
        time.sleep(STEP)


def found(checkouts: Sequence[str]) -> list[psutil.Process]:
    """But for the one whose hook has called us, which waits for us."""
    inside, ours = {os.path.realpath(path) for path in checkouts}, callers()
    return [one for one in psutil.process_iter(["name"]) if one.pid not in ours and is_switching(one, inside)]


def is_switching(process: psutil.Process, checkouts: Collection[str]) -> bool:
    try:
        if process.info["name"] != "git" or not git_words.may_switch(process.cmdline()):
            return False
        return checkout_of(process.cwd()) in checkouts
    except (psutil.Error, OSError):
        return False


def checkout_of(path: str) -> str:
    """The innermost: those of agents, submodules and others lie in the user's own."""
    while path.rstrip("/") and not os.path.lexists(path + "/.git"):
        path = os.path.dirname(path)
    return path


def callers() -> set[int]:
    pids, pid = set[int](), os.getppid()
    while pid > 0 and pid not in pids:
        pids.add(pid)
        try:
            pid = psutil.Process(pid).ppid()
        except (psutil.Error, OSError):
            break
    return pids


def lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_STOPPED))
    except (psutil.Error, OSError):
        return False
