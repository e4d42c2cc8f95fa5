"""What a removal would take, in words."""

from collections.abc import Sequence
from typing import NamedTuple

NAMED = 4


class Loss(NamedTuple):
    """Of one agent. `files` and `commits` are None where git cannot say; `children`: who would get `manager`;
    `entry`: that of its branch in the merge queue, or 0; `lost`: somebody has removed its worktree already."""

    agent: str
    files: list[str] | None
    commits: int | None
    unread: int
    children: list[str]
    manager: str
    running: bool
    questions: int = 0
    entry: int = 0
    lost: bool = False


def counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def some(names: Sequence[str]) -> str:
    shown = [name if name.isprintable() else ascii(name) for name in names[:NAMED]]
    return ", ".join(shown) + (", …" if len(names) > NAMED else "")


def line(loss: Loss) -> str:
    """`foo (running): 2 uncommitted files (a, b), 1 commit that is in no other branch`."""
    parts = []
    if loss.files is None:
        parts.append("a worktree that git cannot read")
    elif loss.lost:
        parts.append("a worktree that is gone already")
    elif loss.files:
        parts.append(f"{counted(len(loss.files), 'uncommitted file')} ({some(loss.files)})")
    if loss.commits:
        parts.append(f"{counted(loss.commits, 'commit')} in no other branch")
    if loss.entry:
        parts.append(f"a branch that the merge queue has not merged yet (entry {loss.entry})")
    if loss.questions:
        parts.append(f"{counted(loss.questions, 'open question')} that nobody answers then")
    if loss.unread:
        parts.append(f"{counted(loss.unread, 'message')} that it has not read")
    text = f"{loss.agent}{' (running)' if loss.running else ''}: {', '.join(parts) or 'nothing unsaved'}"
    if loss.children:
        after = loss.manager or "the user"
        text += f"; {', '.join(loss.children)} then report{'s' if len(loss.children) == 1 else ''} to {after}"
    return text
