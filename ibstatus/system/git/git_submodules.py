"""Submodules of a worktree: their git directories lie in the worktree's own, and each of the two names the other."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ibstatus.system import atomic, disk, git_layout, main_checkout
from ibstatus.system.git import refs

GITLINK = b"160000"
# What of a git directory is looked at: no settings, no hooks.
READ = ("objects", "refs", "packed-refs", "shallow")
PLAIN = "[core]\n\trepositoryFormatVersion = {version}\n\tbare = false\n[extensions]\n{extensions}"


def filled(worktree: str) -> dict[str, str]:
    """path → a commit, of the submodules that have files here."""
    found = {}
    for record in refs.asked(worktree, "ls-files", "--stage", "-z").out.split(b"\0"):
        if record.startswith(GITLINK):
            facts, _, path = record.partition(b"\t")
            name = os.fsdecode(path)
            if os.path.lexists(f"{worktree}/{name}/.git"):
                found[name] = facts.split(b" ")[1].decode("ascii")
    return found


def changed(worktree: str) -> list[str]:
    """Submodules with something uncommitted, or of which git cannot say."""
    found = []
    for path, commit in filled(worktree).items():
        with seen_alone(f"{worktree}/{path}", commit) as env:
            options = ("--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
            done = refs.asked(f"{worktree}/{path}", "status", *options, env=env)
            if done.code or done.out:
                found.append(path)
    return found


@contextmanager
def seen_alone(inside: str, commit: str) -> Iterator[Mapping[str, str]]:
    """Who has the worktree writes the settings of its submodules: git sees the rest of such a repository beside plain
    ones. `commit`: any one of it, for the length of its name."""
    dot_git = inside + "/.git"
    own = os.path.realpath(git_layout.pointed(dot_git, inside) or dot_git)
    with tempfile.TemporaryDirectory(prefix="ib-submodule-") as common:
        for leaf in READ:
            if os.path.lexists(f"{own}/{leaf}"):
                os.symlink(f"{own}/{leaf}", f"{common}/{leaf}")
        sha256 = len(commit) == 64
        extensions = "\tobjectFormat = sha256\n" if sha256 else ""
        with open(common + "/config", "w", encoding="ascii") as file:
            file.write(PLAIN.format(version=int(sha256), extensions=extensions))
        yield {"GIT_DIR": own, "GIT_COMMON_DIR": common, "GIT_WORK_TREE": inside}


def join(admin: str, worktree: str) -> None:
    """Both ends are put right after the worktree's git directory got another name. Checkouts elsewhere stay."""
    for own in git_dirs(admin + "/modules"):
        config = own + "/config"
        written = main_checkout.configured_worktree(config)
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
