"""An agent's work as a diff: what git knows of it, and untracked files too. Shown by git itself, or as facts.

How many commits there are, asked quickly or not at all.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.system.git import checkouts, refs
from ibstatus.system.git import index as git_index
from ibstatus.system.git import start as git_start
from ibstatus.system.process import run

PLAIN = ("--no-ext-diff", "--no-color", "--no-renames")


class File(NamedTuple):
    """One changed file; None for the lines of a binary one."""

    path: str
    added: int | None
    deleted: int | None


class Side(NamedTuple):
    """What is compared to the base: a commit ('' for the worktree `cwd`), seen through another index or its own."""

    cwd: str
    commit: str = ""
    seen_through: str = ""


@contextmanager
def worktree(path: str) -> Iterator[Side]:
    """The worktree as it is, untracked files included: a copy of its index is told that they are to be added."""
    with tempfile.TemporaryDirectory(prefix="ib-index-") as folder:
        index = folder + "/index"
        try:
            shutil.copyfile(checkouts.git_dir(path) + "/index", index)
        except OSError:
            index = ""
        if index:
            intend(path, index)
        yield Side(path, "", index)


def intend(path: str, index: str) -> None:
    """Repositories inside of it are none of its files."""
    listed = refs.asked(path, "ls-files", "--others", "--exclude-standard", "-z").out
    names = b"\0".join(name for name in listed.split(b"\0") if name and not name.endswith(b"/"))
    if names:
        quiet = ("-c", "advice.addEmbeddedRepo=false", *git_index.QUIETLY)
        where = ("--pathspec-from-file=-", "--pathspec-file-nul")
        refs.asked(path, *quiet, "add", "--intent-to-add", *where, data=names, env={"GIT_INDEX_FILE": index})


def show(side: Side, base: str, *options: str) -> int:
    """git writes it to our stdout, with pager and colour as the user has set them. 141: nobody reads it any more."""
    start = git_start.prepared(side.cwd, "diff", *options, *sides(side, base), env=seen_through(side))
    code = subprocess.run(start.argv, cwd=side.cwd, env=start.env, check=False).returncode
    return 141 if code < 0 else code


def files(side: Side, base: str) -> list[File]:
    done = refs.asked(side.cwd, "diff", *PLAIN, "--numstat", "-z", *sides(side, base), env=seen_through(side))
    found = []
    for line in os.fsdecode(done.out).split("\0"):
        if line:
            added, deleted, path = line.split("\t", 2)
            found.append(File(path, number(added), number(deleted)))
    return found


def number(text: str) -> int | None:
    return None if text == "-" else int(text)


def summary(side: Side, base: str) -> str:
    """git's line: `2 files changed, 3 insertions(+)`; '' without changes."""
    done = refs.asked(side.cwd, "diff", *PLAIN, "--shortstat", *sides(side, base), env=seen_through(side))
    return run.text(done.out).strip()


def sides(side: Side, base: str) -> list[str]:
    return [base, side.commit, "--"] if side.commit else [base, "--"]


def seen_through(side: Side) -> dict[str, str]:
    return {"GIT_INDEX_FILE": side.seen_through} if side.seen_through else {}


def shown_by(argv: list[str], cwd: str) -> int:
    """A program of the user with our terminal; 127 when there is none of this name."""
    try:
        return subprocess.run(argv, cwd=cwd, check=False).returncode
    except OSError:
        return 127


PATIENCE = 0.2


def since(folder: str, base: str, branch: str) -> int:
    """0 as well when git does not say so at once."""
    if not base or base.startswith("-"):
        return 0
    try:
        start = git_start.prepared(folder, "rev-list", "--count", f"{base}..refs/heads/{branch}", "--")
        done = subprocess.run(
            start.argv,
            cwd=folder,
            env=start.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, IbError):
        return 0
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip().isdigit() else 0
