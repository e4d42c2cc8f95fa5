"""Submodules of a worktree: their git directories lie in the worktree's own, and each of the two names the other."""

import os
from collections.abc import Iterator

from ibstatus.drivers import git_index
from ibstatus.store import atomic, disk


def join(admin: str, worktree: str) -> None:
    """Both ends are put right after the worktree's git directory got another name. Checkouts elsewhere stay."""
    for own in git_dirs(admin + "/modules"):
        config = own + "/config"
        written = os.fsdecode(git_index.asked(own, "config", "-f", config, "core.worktree").out).removesuffix("\n")
        inside = os.path.normpath(os.path.join(os.path.realpath(own), written))
        if not written or not is_below(inside, os.path.realpath(worktree)) or not disk.exists(inside + "/.git"):
            continue
        if os.path.isfile(inside + "/.git") and not os.path.islink(inside + "/.git"):
            pointer = os.path.relpath(os.path.realpath(own), inside)
            atomic.put(inside + "/.git", b"gitdir: " + os.fsencode(pointer) + b"\n")


def git_dirs(folder: str) -> Iterator[str]:
    """Those below it, at any depth: a submodule's name may hold slashes, and it may have some of its own."""
    for at, folders, leaves in os.walk(folder):
        if "HEAD" in leaves and "config" in leaves and "objects" in folders:
            folders[:] = [leaf for leaf in folders if leaf == "modules"]
            yield at


def is_below(path: str, top: str) -> bool:
    return os.path.realpath(path).startswith(top + "/")
