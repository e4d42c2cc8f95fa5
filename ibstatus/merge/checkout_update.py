"""A checkout goes along with its branch, and only while it has that branch: nobody else's is ever moved."""

import os
import subprocess
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
