"""What the merge queue decides without looking: its commits' messages, when a test counts, what a conflict leaves."""

import re
from collections.abc import Mapping, Sequence

from ibstatus.board.rules import validation
from ibstatus.errors import quoted
from ibstatus.merge.rules import text
from ibstatus.model.board import Entry

LONGEST_SUBJECT, LONGEST_REASON = 200, 4000
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
MARKS = (b"<<<<<<<", b"|||||||", b">>>>>>>")


def message(branch: str, task_id: str, title: str) -> bytes:
    """Of a merge commit: the branch and the task, by its title and by its id."""
    subject = validation.cut(" ".join(f"Merge {branch}: {title or task_id}".split()), LONGEST_SUBJECT)
    return f"{subject}\n\nTask: {' '.join(task_id.split())}\n".encode(errors="replace")


def is_commit(text: str) -> bool:
    """A board may be shared: what stands there as a commit must not be an option for git."""
    return COMMIT.fullmatch(text) is not None


def tests(everywhere: str | None, own: str) -> tuple[str, ...]:
    """What must pass, in this order: the test of every merge, then the task's own."""
    return tuple(dict.fromkeys(test for test in ((everywhere or "").strip(), own.strip()) if test))


def receipt(tree: str, commands: Sequence[str], code: int) -> dict[str, str | int]:
    return {"tree": tree, "command": joined(commands), "exit": code}


def holds(known: Mapping[str, str | int] | None, tree: str, commands: Sequence[str]) -> bool:
    """Has just this been tested, with success?"""
    return known == receipt(tree, commands, 0)


def joined(commands: Sequence[str]) -> str:
    return commands[0] if len(commands) == 1 else " && ".join(f"({one})" for one in commands)


def failed(command: str, code: int, last: Sequence[str]) -> str:
    return "\n".join([f"The test fails on the merged work (exit {code}): {command}", *last])


def marks(text: bytes) -> int:
    """Lines that git leaves where two sides conflict. `=======` also underlines titles, and never stands alone."""
    return sum(line[:7] in MARKS and line[7:8] in (b"", b" ", b"\r") for line in text.split(b"\n"))


def waits(branch: str, into: str, reason: str) -> str:
    return f"{branch} waits for {into}: {reason}"


def storable(text: str) -> str:
    """What git and programs say may hold bytes that no store takes."""
    plain = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace").replace("\0", "")
    return validation.cut(plain, LONGEST_REASON)


def whole(message: str, cause: str) -> str:
    return storable(f"{message} ({cause})" if cause else message)


def remedy(entry: Entry, asks: str, folder: str) -> str:
    """What to type about an entry that needs somebody. `asks`: the agent that can mend its branch, or ''; `folder`:
    where the branch is checked out, or ''."""
    if entry.status != validation.M_CONFLICT:
        return f"mend what it names; then: {again(entry)}"
    what = f"Your work conflicts with {entry.base} in {text.files(entry.conflict_files)}"
    first = text.ask_agent(asks, f"{what}. {text.how(entry.base)}") if asks else by_hand(entry, folder)
    return f"{first}; {'when it has' if asks else 'then'}: ib board merge resolve {entry.id}"


def again(entry: Entry) -> str:
    return f"ib board merge retry {entry.id}, or give it up: ib board merge abandon {entry.id}"


def brought_back(entry: Entry) -> str:
    """For one whose branch is gone."""
    return f"git branch {quoted(entry.branch)} {quoted(entry.sha)}; then: {again(entry)}"


def by_hand(entry: Entry, folder: str) -> str:
    branch, base = quoted(entry.branch), quoted(entry.base)
    merge = f"git -C {quoted(folder)} merge {base}" if folder else f"git switch {branch} && git merge {base}"
    return f"{merge}; resolve it there, commit"


def unmarked(entry: Entry, asks: str, names: Sequence[str]) -> str:
    """For a resolution in which conflict markers were left."""
    what = f"Conflict markers stand in {text.files(names)}. Keep what both sides need, commit"
    marks = f"git grep -n '^[<>|]\\{{7\\}}' {quoted(entry.branch)}; take them out, commit"
    first = f"{text.ask_agent(asks, what)}; when it has" if asks else f"{marks}; then"
    return f"{first}: ib board merge resolve {entry.id}"


def still(branch: str, into: str, names: Sequence[str]) -> str:
    return f"{branch} still conflicts with {into} in {text.files(names)}"
