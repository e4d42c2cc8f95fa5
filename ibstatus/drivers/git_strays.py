"""Which git runs beside us: what a killed one of us has left moves a branch when nobody expects it, and a person's may
be about to check one out."""

import os
import time
from collections.abc import Sequence

import psutil

OURS = ("ib merge ", "ib undo: ")  # how our reflog lines begin, see git_refs.move
PATIENCE, STEP = 3.0, 0.02
YOUNG = 60.0  # one that runs for longer waits for somebody, with a pager or an editor
KEEPING = frozenset({"add", "blame", "commit", "diff", "fetch", "grep", "gui", "log", "push", "show", "status"})


def moving(folder: str, checkouts: Sequence[str]) -> list[int]:
    """The processes that move a branch of this repository for us; asked while none of us does."""
    places = {folder, *checkouts}
    found = []
    for process in psutil.process_iter():
        try:
            argv = process.cmdline()
            if "update-ref" in argv[:4] and any(word.startswith(OURS) for word in argv) and process.cwd() in places:
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found


def let_switch(checkouts: Sequence[str]) -> None:
    """Until those have ended that run there now and may change the branch. Such a one reads where the branch is, lets
    go of the index's lock, and has the branch some time after that: no file tells of it."""
    running, deadline = switching(checkouts), time.monotonic() + PATIENCE
    while any(map(lives, running)) and time.monotonic() < deadline:
        time.sleep(STEP)


def lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def switching(checkouts: Sequence[str]) -> list[psutil.Process]:
    """But for the one whose hook has called us, which waits for us."""
    now, callers, found = time.time(), psutil.Process().parents(), []
    inside = tuple(os.path.realpath(path) + "/" for path in checkouts)
    for process in psutil.process_iter(["name"]):
        try:
            if process.info["name"] != "git" or now - process.create_time() > YOUNG or process in callers:
                continue
            if (process.cwd() + "/").startswith(inside) and not KEEPING.intersection(process.cmdline()[1:2]):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found
