"""What a killed one of us has left running: its git goes on by itself, and may move a branch when nobody expects it."""

from collections.abc import Sequence

import psutil

from ibstatus.system.process import run

OURS = ("ib merge ", "ib undo: ")  # how our reflog lines begin, see git_refs.move


def moving(folder: str, checkouts: Sequence[str]) -> list[int]:
    """The processes that move a branch of this repository for us; asked while none of us does."""
    places = {folder, *checkouts}
    found = []
    for process in run.running():
        try:
            argv = process.cmdline()
            if "update-ref" in argv[:4] and any(word.startswith(OURS) for word in argv) and process.cwd() in places:
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found
