"""The checkouts of a repository: which branch each has, and what is uncommitted there."""

import os
import shutil
import tempfile
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.model.constants import AGENTS
from ibstatus.system.git import lock, refs, worktrees

GITLINK = "160000"


class Checkout(NamedTuple):
    """`ref`: the branch that it has, or that it will have again when the rebase in it ends; '' when detached."""

    path: str
    ref: str
    busy: str = ""


class Change(NamedTuple):
    """A line of `git status`: two letters and a path; untracked is `??`."""

    code: str
    path: str


def all_of(cwd: str, root: str, common: str) -> list[Checkout]:
    """Those whose folder is there. git guesses the main checkout from the git directory's name; `root` is known, as
    is the git directory that all share. Of a copied repository git also tells the worktrees of the one that it was
    copied from. Those in an agent's scratch folder are left out: hooks named by a relative path would be the
    agent's."""
    found = []
    done = refs.asked(cwd, "worktree", "list", "--porcelain", "-z")
    for at, block in enumerate(os.fsdecode(done.out).split("\0\0")):
        facts = dict(line.partition(" ")[::2] for line in block.split("\0") if line)
        path = facts.get("worktree", "") if at or "bare" in facts else root
        if path and "bare" not in facts and os.path.isdir(path) and not is_scratch(root, path):
            own = git_dir(path)
            if not at or is_of(common, own):
                found.append(Checkout(path, facts.get("branch") or rebased(own), lock.under_way(own)))
    return found


def is_scratch(root: str, path: str) -> bool:
    """Does this checkout lie in /tmp/ib-<agent>, where that agent may write everything?"""
    before, _, rest = path.partition("/tmp/ib-")
    agent = rest.partition("/")[0]
    return before in ("", "/private") and agent != "" and os.path.isdir(f"{root}{AGENTS}{agent}")


def is_of(common: str, own: str) -> bool:
    """Is this git directory of a worktree one of the repository with this common one? One of which that cannot be told
    may be. A mount gives the same folder another path."""
    try:
        return not own or os.path.samefile(os.path.dirname(own), f"{common}/worktrees")
    except OSError:
        return True


def git_dir(checkout: str) -> str:
    return refs.asked(checkout, "rev-parse", "--absolute-git-dir").line


def is_behind(checkout: str, start: str, end: str) -> bool:
    """Has its index nothing yet of the step from one commit to the other? It is written at once."""
    done = refs.asked(checkout, "diff-index", "--cached", "--name-only", "--no-renames", "-z", start)
    return refs.changed(checkout, start, end).isdisjoint(os.fsdecode(done.out).split("\0"))


def rebased(own: str) -> str:
    for leaf in ("rebase-merge", "rebase-apply"):
        try:
            with open(f"{own}/{leaf}/head-name", encoding="utf-8", errors="surrogateescape") as file:
                return file.read().strip()
        except OSError:
            continue
    return ""


def changes(checkout: str, *options: str) -> list[Change]:
    """Everything uncommitted, files in untracked folders too. What cannot be asked is not taken for clean."""
    done = refs.asked(checkout, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", *options)
    if done.code:
        raise IbError(f"git cannot look at {checkout}", cause=refs.complaint(done.err), hint="git status, there")
    return [Change(item[:2], item[3:]) for item in os.fsdecode(done.out).split("\0") if item]


def in_the_way(checkout: str, before: str, after: str) -> list[str]:
    """Files that git has never seen, ignored ones too, where the step from one commit to the other makes new ones."""
    options = ("--no-renames", "--diff-filter=A", "--name-only", "-r", "-z")
    done = refs.asked(checkout, "diff-tree", *options, before, after)
    found: dict[str, None] = {}
    for name in os.fsdecode(done.out).split("\0"):
        if name:
            found.update(dict.fromkeys(blocking(checkout, name)))
    return list(found)


def blocking(checkout: str, name: str) -> list[str]:
    """What lies at this path or on the way to it, and would be overwritten."""
    parts = name.split("/")
    for at in range(1, len(parts) + 1):
        part = "/".join(parts[:at])
        path = f"{checkout}/{part}"
        if not os.path.lexists(path):
            return []
        if at == len(parts) or os.path.islink(path) or not os.path.isdir(path):
            return untracked(checkout, part)
    return []


def only_here(checkout: str, before: str, after: str) -> list[str]:
    """Submodules that the step takes to commits which no remote of theirs has: they lie in this checkout alone."""
    done = refs.asked(checkout, "diff-tree", "--raw", "--no-renames", "--no-abbrev", "-r", "-z", before, after)
    fields = os.fsdecode(done.out).split("\0")
    found = []
    for facts, path in zip(fields[::2], fields[1::2], strict=False):
        _, mode, _, oid, _ = facts.split(" ")
        inside = f"{checkout}/{path}"
        if mode == GITLINK and os.path.lexists(inside + "/.git"):
            with worktrees.seen_alone(inside, oid) as env:
                new = refs.asked(inside, "rev-list", "--max-count=1", oid, "--not", "--remotes", env=env)
            found += [path] if new.line else []
    return found


def untracked(checkout: str, path: str) -> list[str]:
    found = refs.asked(checkout, "ls-files", "--others", "-z", "--", path)
    return [name for name in os.fsdecode(found.out).split("\0") if name]


def objection(checkout: str, before: str, after: str) -> str:
    """What git says to a try, on a copy of the index, to bring this checkout from one commit to another."""
    with tempfile.TemporaryDirectory(prefix="ib-index-") as folder:
        env = {"GIT_INDEX_FILE": folder + "/index"}
        try:
            shutil.copyfile(git_dir(checkout) + "/index", folder + "/index")
        except OSError:
            return ""
        refs.asked(checkout, "update-index", "-q", "--refresh", env=env)
        done = refs.asked(checkout, "read-tree", "--no-recurse-submodules", "-n", "-m", "-u", before, after, env=env)
    return refs.complaint(done.err) if done.code else ""
