"""Branches, always by their whole names (a tag may be called the same), and moved by compare-and-swap."""

import os
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.system.git import start as git_start
from ibstatus.system.git.index import Answer
from ibstatus.system.process import run

HEADS = "refs/heads/"
MOST_LINKS = 5


class Commit(NamedTuple):
    oid: str
    subject: str

    @property
    def short(self) -> str:
        return self.oid[:7]


def asked(cwd: str, *args: str, data: bytes = b"", env: Mapping[str, str] | None = None) -> Answer:
    """Bytes in and out, and no end of patience: a signature may wait for its passphrase, a checkout may be big."""
    try:
        start = git_start.prepared(cwd, *args, env={**git_start.LITERAL, **(env or {})})
        done = subprocess.run(start.argv, cwd=cwd, env=start.env, input=data, capture_output=True, check=False)
    except FileNotFoundError:
        return Answer(127, b"", "git is not installed" if os.path.isdir(cwd) else f"{cwd} is gone")
    except IbError as error:
        return Answer(128, b"", git_start.complaint(error))
    return Answer(done.returncode, done.stdout, run.text(done.stderr).strip())


def complaint(err: str) -> str:
    """The line of git's talk that says what is wrong."""
    said = [line.strip() for line in err.splitlines() if line.strip() and not line.startswith("hint:")]
    wrong = [line for line in said if line.startswith(("fatal:", "error:"))]
    return (wrong or said or ["git did not say why"])[-1]


def name_of(ref: str) -> str:
    return ref.removeprefix(HEADS)


def head_of(checkout: str) -> str:
    """The branch that this checkout has; '' when its HEAD is detached or it is none."""
    ref = asked(checkout, "symbolic-ref", "--quiet", "HEAD").line
    return ref if ref.startswith(HEADS) else ""


def branch_of(cwd: str, name: str) -> str:
    """The whole name of the local branch that is called so, behind a symbolic one the real one; '' without."""
    ref = name if name.startswith(HEADS) else HEADS + name
    for _ in range(MOST_LINKS):
        link = asked(cwd, "symbolic-ref", "--quiet", ref).line
        if not link:
            break
        ref = link
    return ref if asked(cwd, "show-ref", "--verify", "--quiet", ref).code == 0 else ""


def tip_of(cwd: str, ref: str) -> str:
    """The commit that a whole ref name or an object id stands for; '' without one."""
    return asked(cwd, "rev-parse", "--quiet", "--verify", "--end-of-options", ref + "^{commit}").line


def tree_of(cwd: str, commit: str) -> str:
    return asked(cwd, "rev-parse", "--quiet", "--verify", "--end-of-options", commit + "^{tree}").line


def contains(cwd: str, descendant: str, ancestor: str) -> bool:
    """Is `ancestor` part of the history of `descendant`?"""
    return asked(cwd, "merge-base", "--is-ancestor", ancestor, descendant).code == 0


def merge_base(cwd: str, one: str, other: str) -> str:
    """The best one; '' when the two have nothing in common."""
    return asked(cwd, "merge-base", one, other).line.partition("\n")[0]


def commits(cwd: str, before: str, after: str, *options: str) -> list[Commit]:
    """What `after` has and `before` has not, newest first. Plumbing: no setting of `git log` changes it."""
    form = ["--no-commit-header", "--format=%H %s"]
    done = asked(cwd, "rev-list", *form, *options, "--end-of-options", f"{before}..{after}")
    lines = run.text(done.out).split("\n") if done.code == 0 else []
    return [Commit(line.partition(" ")[0], line.partition(" ")[2]) for line in lines if line]


def changed(cwd: str, before: str, after: str) -> set[str]:
    """The paths in which two commits differ."""
    done = asked(cwd, "diff-tree", "--no-renames", "--name-only", "-r", "-z", before, after)
    return {name for name in os.fsdecode(done.out).split("\0") if name}


def move(cwd: str, ref: str, before: str, after: str, why: str) -> str:
    """'' when the ref was `before` and is `after` now; else what git says."""
    done = asked(cwd, "update-ref", "--create-reflog", "-m", why, ref, after, before)
    return "" if done.code == 0 else complaint(done.err)
