""".worktreeinclude: what git ignores and an agent needs all the same (.env and the like), copied to its worktree."""

import os
import shutil

from ibstatus.project import paths
from ibstatus.system.git import index

LIST = ".worktreeinclude"
OURS = (".ittybitty/", ".git/")


def copy(place: paths.Place, worktree: str) -> list[str]:
    """Those that match a line of the list and are ignored; a file that the worktree has already stays as it is."""
    if not os.path.isfile(f"{place.root}/{LIST}"):
        return []
    wanted = listed(place.root, f"--exclude-from={LIST}")
    ignored = set(listed(place.root, "--exclude-standard"))
    return [path for path in wanted if path in ignored and not path.startswith(OURS) and copied(place, worktree, path)]


def listed(root: str, exclude: str) -> list[str]:
    found = index.asked(root, "ls-files", "--others", "--ignored", "-z", exclude).out
    return [os.fsdecode(path) for path in found.split(b"\0") if path]


def copied(place: paths.Place, worktree: str, path: str) -> bool:
    target = f"{worktree}/{path}"
    if os.path.lexists(target):
        return False
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(f"{place.root}/{path}", target, follow_symlinks=False)
    except OSError:
        return False
    return True
