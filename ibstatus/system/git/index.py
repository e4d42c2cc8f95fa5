"""git's index and objects, asked about one path from the root of the checkout; never about a pattern.

What git's filters make of a path: its attributes, the settings of a filter, and the object that would be stored.
"""

import os
import subprocess
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.system.git import start as git_start
from ibstatus.system.process import run

PLAIN = "H"
SKIPPED = "S"
PATIENCE = 30.0
QUIETLY = ("-c", f"core.hooksPath={os.devnull}")


class Entry(NamedTuple):
    """One line of the index. `tag` as in `git ls-files -v`: H plain, S skip-worktree, lower case assume-unchanged."""

    tag: str
    mode: str
    oid: str
    stage: int

    @property
    def is_plain_file(self) -> bool:
        return self.tag == PLAIN and self.stage == 0 and self.mode.startswith("100")


class Answer(NamedTuple):
    code: int
    out: bytes
    err: str

    @property
    def line(self) -> str:
        return os.fsdecode(self.out).removesuffix("\n") if self.code == 0 else ""


def asked(cwd: str, *args: str, data: bytes = b"", index: str = "") -> Answer:
    """Like git.run, but with bytes in and out, and perhaps another index than the checkout's own."""
    env = {**git_start.LITERAL, "GIT_INDEX_FILE": index} if index else git_start.LITERAL
    try:
        start = git_start.prepared(cwd, *args, env=env)
        done = subprocess.run(
            start.argv, cwd=cwd, env=start.env, input=data, capture_output=True, timeout=PATIENCE, check=False
        )
    except FileNotFoundError:
        return Answer(127, b"", "git is not installed")
    except IbError as error:
        return Answer(128, b"", git_start.complaint(error))
    except subprocess.TimeoutExpired:
        return Answer(124, b"", f"git did not answer within {PATIENCE:.0f} seconds")
    return Answer(done.returncode, done.stdout, run.text(done.stderr).strip())


def entries(root: str, path: str, index: str = "") -> list[Entry]:
    """What the index has of this path: nothing, one entry, or the stages of a conflict."""
    found = []
    for record in asked(root, "ls-files", "--stage", "-v", "-z", "--", path, index=index).out.split(b"\0"):
        fields, tab, name = record.partition(b"\t")
        if tab and os.fsdecode(name) == path:
            tag, mode, oid, stage = fields.decode("ascii").split(" ")
            found.append(Entry(tag, mode, oid, int(stage)))
    return found


def is_unmerged(root: str, path: str) -> bool:
    return any(entry.stage for entry in entries(root, path))


def blob(root: str, oid: str) -> bytes:
    return asked(root, "cat-file", "blob", oid).out


def committed(root: str, path: str) -> str:
    """The blob that HEAD has of this path, or ''."""
    return asked(root, "rev-parse", "--quiet", "--verify", f"HEAD:{path}").line


def status(root: str, path: str) -> str:
    """What `git status` says of this path, as in ` M`; '' when it has nothing to say."""
    return run.text(asked(root, "status", "--porcelain", "-z", "--", path).out)[:2]


def forget_look(root: str, path: str, entry: Entry, index: str) -> bool:
    """Make this index forget how the file looked: git then compares the content. What is staged stays what it was."""
    again = f"{entry.mode},{entry.oid},{path}"
    return asked(root, *QUIETLY, "update-index", "--cacheinfo", again, index=index).code == 0


def look_again(root: str, path: str, index: str) -> bool:
    """Note how the file looks, if its content is what the index has. Nothing is added by this `add`."""
    return asked(root, *QUIETLY, "add", "--refresh", "--", path, index=index).code == 0


def attributes(root: str, path: str, names: tuple[str, ...]) -> dict[str, str]:
    fields = os.fsdecode(asked(root, "check-attr", "-z", *names, "--", path).out).split("\0")
    return dict(zip(fields[1::3], fields[2::3], strict=False))


def settings(root: str, name: str) -> list[tuple[str, str]]:
    """(key, value) of everything that is set for this filter, wherever it is set; the last one of a key counts."""
    done = asked(root, "config", "-z", "--get-regexp", rf"^filter\.{name}\.")
    pairs = [record.partition("\n") for record in os.fsdecode(done.out).split("\0") if record]
    return [(key, value) for key, _, value in pairs]


def digest(root: str, path: str, data: bytes, without: str = "") -> str:
    """The name of the object that git would store for this content; `without` leaves the filter of that name out."""
    aside = ("-c", f"filter.{without}.clean=cat") if without else ()
    return asked(root, *aside, "hash-object", f"--path={path}", "--stdin", data=data).line


def top_of(folder: str) -> str:
    """The root of the checkout that this folder belongs to, or ''."""
    return asked(folder, "rev-parse", "--show-toplevel").line
