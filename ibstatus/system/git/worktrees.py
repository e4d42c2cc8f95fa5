"""Worktrees and branches as git has written them down: found, taken away, put back.

Submodules of a worktree: their git directories lie in the worktree's own, and each of the two names the other.
"""

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from ibstatus.system import atomic, disk, folders, git_layout, main_checkout
from ibstatus.system.git import index, refs, start

SMALL = 1 << 16
OID = re.compile(rb"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
# What lies in a worktree's own git directory and names commits that a rebase or merge in progress needs.
IN_PROGRESS = ("rebase-merge", "rebase-apply", "sequencer", "refs")
MOST_KEPT = 500


class Worktree(NamedTuple):
    """One line of `git worktree list`. `branch` is a full ref name or ''."""

    path: str
    head: str
    branch: str
    prunable: bool


def worktrees(root: str) -> list[Worktree]:
    found = []
    for block in index.asked(root, "worktree", "list", "--porcelain", "-z").out.split(b"\0\0"):
        lines = dict(line.partition(b" ")[::2] for line in block.split(b"\0") if line)
        if b"worktree" in lines:
            path, head, branch = (os.fsdecode(lines.get(key, b"")) for key in (b"worktree", b"HEAD", b"branch"))
            found.append(Worktree(path, head, branch, b"prunable" in lines))
    return found


def admin_of(common: str, worktree: str) -> str:
    """The directory in which git keeps this worktree's HEAD and index; '' when it is no worktree of this repository."""
    return start.git_dir_of(common, worktree)


def registered(common: str, worktree: str) -> str:
    """The same for a worktree whose folder is gone or is something else by now: by what git has written down."""
    folder = common + "/worktrees"
    wanted = os.path.realpath(os.path.dirname(worktree)) + "/" + os.path.basename(worktree) + "/.git"
    for leaf in folders.names_in(folder):
        try:
            text = os.fsdecode(disk.read_file(f"{folder}/{leaf}/gitdir")).rstrip("\n")
        except OSError:
            continue
        path = os.path.join(f"{folder}/{leaf}", text)
        if os.path.realpath(os.path.dirname(os.path.dirname(path))) + "/" + "/".join(path.split("/")[-2:]) == wanted:
            return f"{folder}/{leaf}"
    return ""


def tip(root: str, branch: str) -> str:
    """The commit of refs/heads/<branch>, or ''."""
    return index.asked(root, "rev-parse", "--quiet", "--verify", f"refs/heads/{branch}^{{commit}}").line


def agent_branches(root: str) -> list[str]:
    """Branches under agent/, without refs/heads/."""
    out = index.asked(root, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/agent/").out
    return os.fsdecode(out).splitlines()


def between(root: str, base: str, tip: str) -> int | None:
    done = index.asked(root, "rev-list", "--count", f"{base}..{tip}")
    return int(done.line) if done.line.isdigit() else None


def head(worktree: str) -> str:
    return index.asked(worktree, "rev-parse", "--quiet", "--verify", "HEAD^{commit}").line


def delete_branch(root: str, branch: str, oid: str) -> bool:
    """Only where it still stands at this commit."""
    return index.asked(root, "update-ref", "-d", f"refs/heads/{branch}", oid).code == 0


def make_branch(root: str, branch: str, oid: str) -> bool:
    """False when there is one of that name by now, at another commit."""
    none = "0" * len(oid)
    made = index.asked(root, "update-ref", "-m", "ib undo", f"refs/heads/{branch}", oid, none).code == 0
    return made or tip(root, branch) == oid


def only_here(root: str, commits: Iterable[str], leaving_out: Iterable[str]) -> int | None:
    """How many commits no other branch, tag or remote has; None when git cannot say. `leaving_out`: branches."""
    wanted = [commit for commit in commits if commit]
    if not wanted:
        return 0
    out = [f"--exclude={branch}" for branch in leaving_out]
    done = index.asked(root, "rev-list", "--count", *wanted, "--not", *out, "--branches", "--remotes", "--tags")
    return int(done.line) if done.line.isdigit() else None


def look_again(worktree: str) -> None:
    """The files have other times and inodes than the index remembers: some commands refuse that without a look."""
    index.asked(worktree, "update-index", "-q", "--refresh")


def uncommitted(worktree: str) -> list[str] | None:
    """Paths that git shows as changed or new; None when it cannot say."""
    done = index.asked(worktree, "status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames")
    if done.code:
        return None
    return [os.fsdecode(entry[3:]) for entry in done.out.split(b"\0") if entry]


def named_commits(root: str, admin: str) -> list[str]:
    """Commits that only this worktree's own files name: a detached HEAD, a rebase in progress, its reflog."""
    seen = dict.fromkeys(oid.decode() for path in small_files(admin) for oid in OID.findall(disk.read_file(path)))
    names = "".join(f"{oid}\n" for oid in seen)
    known = index.asked(root, "cat-file", "--batch-check", data=names.encode()).out.decode().splitlines()
    return [line.split(" ")[0] for line in known if line.split(" ")[1:2] == ["commit"]][:MOST_KEPT]


def small_files(admin: str) -> list[str]:
    found = [f"{admin}/{leaf}" for leaf in disk.listdir(admin)]
    for folder in IN_PROGRESS:
        for at, _, leaves in os.walk(f"{admin}/{folder}"):
            found += [f"{at}/{leaf}" for leaf in leaves]
    found.append(admin + "/logs/HEAD")
    return [path for path in found if os.path.isfile(path) and os.path.getsize(path) <= SMALL and "index" not in path]


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
    for at, inner, leaves in os.walk(folder):
        if "HEAD" in leaves and "config" in leaves and "objects" in inner:
            inner[:] = [leaf for leaf in inner if leaf == "modules"]
            yield at


def is_below(path: str, top: str) -> bool:
    return os.path.realpath(path).startswith(top + "/")
