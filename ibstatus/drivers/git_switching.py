"""Somebody's git that is about to have another branch: it has read where that is, and of what comes then, HEAD is last,
when the lock on the index is long gone. No file tells of it."""

import os
import time
from collections.abc import Callable, Collection, Sequence

import psutil

from ibstatus.drivers import git_checkouts, processes
from ibstatus.rules import git_words

PATIENCE, STEP = 3.0, 0.02
SAID_AFTER = 0.5


def let(checkouts: Sequence[str], say: Callable[[str], None]) -> None:
    """Until those have ended that are at it now in one of these."""
    running, began, said = found(checkouts), time.monotonic(), False
    while (left := [one for one in running if is_at_it(one)]) and time.monotonic() < began + PATIENCE:
        if not said and time.monotonic() > began + SAID_AFTER:
            said = True
            say(f"Waiting for a git that may just check the branch out: PID {', '.join(str(one.pid) for one in left)}")
        time.sleep(STEP)


def found(checkouts: Sequence[str]) -> list[psutil.Process]:
    """But for the one whose hook has called us, which waits for us."""
    inside, ours = {os.path.realpath(path) for path in checkouts}, callers()
    return [one for one in processes.running() if one.pid not in ours and is_switching(one, inside) and is_at_it(one)]


def rebasing(checkouts: Sequence[str]) -> list[psutil.Process]:
    """Of these the ones that may write the branch as well."""
    return [one for one in found(checkouts) if verb_of(one) == git_words.REBASE]


def verb_of(process: psutil.Process) -> str:
    try:
        return git_words.command(process.cmdline())[0]
    except (psutil.Error, OSError):
        return ""


def is_switching(process: psutil.Process, checkouts: Collection[str]) -> bool:
    try:
        if process.name() != "git":
            return False
        argv = process.cmdline()
        checkout = checkout_of(process.cwd()) if git_words.may_switch(argv) else ""
    except (psutil.Error, OSError):
        return False
    if checkout not in checkouts:
        return False
    return git_words.command(argv)[0] != git_words.REBASE or not git_checkouts.rebased(git_checkouts.git_dir(checkout))


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


def is_at_it(process: psutil.Process) -> bool:
    """It lives, and a checkout has not come to the hook that is told of what it has done."""
    try:
        if not process.is_running() or process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_STOPPED):
            return False
        verb, children = git_words.command(process.cmdline())[0], process.children()
    except (psutil.Error, OSError):
        return False
    return verb == git_words.REBASE or not any(map(is_told, children))


def is_told(child: psutil.Process) -> bool:
    try:
        return git_words.is_told_of_a_switch(child.cmdline())
    except (psutil.Error, OSError):
        return False
