"""A checkout goes along with its branch, and only while it has that branch: nobody else's is ever moved.

A checkout that a git which failed or died half-way has left between two commits goes back to the first one.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable

from ibstatus.system.git import checkouts, refs
from ibstatus.system.git import start as git_start

AWAY = "its checkout has another branch by now"
PATIENCE, STEP = 3.0, 0.02
READ = ("read-tree", "--no-recurse-submodules", "-m", "-u")


def fast_forward(checkout: str, ref: str, before: str, after: str, why: str) -> str:
    """As `git merge --ff-only`, files first; but the branch is named, not whatever HEAD is meanwhile. '' when done."""
    trouble = bring(checkout, ref, before, after)
    if trouble:
        return trouble
    trouble = refs.move(checkout, ref, before, after, f"{why}: Fast-forward")
    if not trouble and refs.head_of(checkout) == ref:
        refs.asked(checkout, "update-ref", "ORIG_HEAD", before)
        told(checkout)
    elif refs.tip_of(checkout, ref) != before:
        to_head(checkout, after)  # somebody has committed meanwhile, or switched at the very last
    return trouble


def told(checkout: str) -> None:
    """The user's own hook, in the user's own environment; what it prints is for them."""
    start = git_start.prepared(checkout, "hook", "run", "--ignore-missing", "post-merge", "--", "0")
    subprocess.run(start.argv, cwd=checkout, env=start.env, stdin=subprocess.DEVNULL, check=False)


def bring(checkout: str, ref: str, before: str, after: str) -> str:
    """Index and files alone, from one commit to another; local changes stay, or nothing is done. '' when done."""
    trouble = patiently(checkout, before, after, lambda: refs.head_of(checkout) == ref)
    if trouble or refs.head_of(checkout) == ref:
        return trouble
    to_head(checkout, after)
    return AWAY


def to_head(checkout: str, after: str) -> None:
    """What was brought and is not in the commit that HEAD is at now goes again."""
    patiently(checkout, after, "HEAD", lambda: True)


def patiently(checkout: str, before: str, after: str, still: Callable[[], bool]) -> str:
    """Another git may be at work on the index for a moment, ours included; it may be one that changes the branch."""
    until = time.monotonic() + PATIENCE
    while True:
        if not still():
            return AWAY
        refs.asked(checkout, "update-index", "-q", "--refresh")
        done = refs.asked(checkout, *READ, before, after)
        if done.code == 0:
            return ""
        if "index.lock" not in done.err or time.monotonic() > until:
            return refs.complaint(done.err)
        time.sleep(STEP)


def at_work(checkouts: Iterable[str]) -> str:
    """The first of these in which git does not come to its end: it may be just about to change the branch. Or ''."""
    return next((path for path in checkouts if settled(path, PATIENCE)), "")


def settled(checkout: str, patience: float = PATIENCE / 3) -> str:
    """A git that was started by a killed one of us may still be at it. The lock that it does not let go of, or ''."""
    until, lock = time.monotonic() + patience, checkouts.git_dir(checkout) + "/index.lock"
    while os.path.lexists(lock):
        if time.monotonic() > until:
            return lock
        time.sleep(STEP)
    return ""


def put_back(checkout: str, ref: str, before: str, after: str) -> str:
    """Index and files of this branch, as far as they are what `after` has; a person's changes stay. '' when done."""
    if refs.head_of(checkout) != ref:
        return ""
    options = ("--name-status", "--no-renames", "-r", "-z")
    listed = names(refs.asked(checkout, "diff-tree", *options, before, after).out)
    changed = dict(zip(listed[1::2], listed[::2], strict=False))
    staged = names(refs.asked(checkout, "diff-index", "--cached", "--name-only", "-z", before).out)
    if not changed.keys().isdisjoint(staged):  # it came to the end of its checkout, and wrote the index
        return bring(checkout, ref, after, before)
    unwind(checkout, before, after, changed)
    return ""


def unwind(checkout: str, before: str, after: str, changed: dict[str, str]) -> None:
    """Files alone: the index is still that of `before`. `changed`: path → A, D, M or T, as git calls it."""
    with tempfile.TemporaryDirectory(prefix="ib-index-") as folder:
        env = {"GIT_INDEX_FILE": folder + "/after"}
        refs.asked(checkout, "read-tree", after, env=env)
        refs.asked(checkout, "update-index", "-q", "--refresh", env=env)
        other = set(names(refs.asked(checkout, "diff-files", "--name-only", "-z", env=env).out))
        written = [path for path, status in changed.items() if status != "D" and path not in other]
        out = left_out(checkout)
        gone = [path for path, status in changed.items() if status == "D" and not is_there(checkout, path)]
        removed = [path for path in gone if path not in out]
        for path in written:
            if changed[path] == "A":
                remove(checkout, path)
        env = {"GIT_INDEX_FILE": folder + "/before"}
        refs.asked(checkout, "read-tree", before, env=env)
        missing = removed + [path for path in written if changed[path] != "A"]
        data = os.fsencode("\0".join(missing))
        refs.asked(checkout, "checkout-index", "--force", "--quiet", "-z", "--stdin", data=data, env=env)


def left_out(checkout: str) -> set[str]:
    """Of a sparse checkout: what the user does not want to have as a file."""
    listed = names(refs.asked(checkout, "ls-files", "-t", "-z").out)
    return {entry[2:] for entry in listed if entry.startswith("S ")}


def is_there(checkout: str, path: str) -> bool:
    return os.path.lexists(f"{checkout}/{path}")


def names(data: bytes) -> list[str]:
    return [name for name in os.fsdecode(data).split("\0") if name]


def remove(checkout: str, path: str) -> None:
    """The file and the folders that are empty without it; a submodule's folder stays."""
    try:
        os.unlink(f"{checkout}/{path}")
        while path := path.rpartition("/")[0]:
            os.rmdir(f"{checkout}/{path}")
    except OSError:
        pass
