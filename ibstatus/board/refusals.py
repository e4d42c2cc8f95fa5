"""What both stores say when they refuse. Who asks in vain learns how things stand, and what to type.

What of a task a search finds. Here, and not in SQL: both stores mean the same by a word and by its case.
"""

from collections.abc import Iterable

from ibstatus.board.port import Lost
from ibstatus.board.rules import validation
from ibstatus.errors import IbError
from ibstatus.model.board import Entry, Fence, Task


def not_there(id: str) -> IbError:
    return IbError(f"There is no task '{validation.cut(id, 60)}'", hint=validation.LISTED)


def no_entry(id: int) -> IbError:
    return IbError(f"There is no entry {id} in the merge queue", hint=validation.QUEUE)


def lost(fence: Fence, task: Task) -> Lost:
    """The fence did not fit: who holds the task now, or what became of it."""
    mine = f" (you showed attempt {fence.attempt})" if fence.attempt is not None else ""
    if task.claimed_by is not None:
        state = f"'{task.claimed_by}' holds it, in attempt {task.attempt}"
    elif task.done_by is not None:
        state = f"'{task.done_by}' has done it, in attempt {task.attempt}"
    else:
        after = f", after {task.attempt} attempt{'s' * (task.attempt > 1)}" if task.attempt else ""
        state = f"it is {validation.told(task.status)}{after}"
    held = "not held by '{}'" if task.attempt else "held by nobody, not by '{}'"
    held = "held by '{}' in another attempt" if task.claimed_by == fence.agent else held
    return Lost(
        f"Task {task.id} is {held.format(validation.cut(fence.agent, 60))}: nothing was changed",
        cause=state + mine,
        hint=validation.shown(task.id),
    )


def not_so(task: Task, wanted: str) -> IbError:
    """`wanted` completes 'Task x is done, …'."""
    return IbError(f"Task {task.id} is {validation.told(task.status)}, {wanted}", hint=validation.shown(task.id))


def one_branch() -> IbError:
    return IbError("A branch belongs to one task", hint="finish the others without it")


def circle(way: list[str]) -> IbError:
    return IbError(f"They would wait for each other for ever: {' → '.join(way)}", hint=validation.shown(way[0]))


def not_mergeable(entry: Entry, wanted: str) -> IbError:
    state = "abandoned" if entry.abandoned else entry.status
    return IbError(
        f"Entry {entry.id} of the merge queue is {state}, {wanted}",
        cause=entry.branch,
        hint=f"{validation.QUEUE} --all",
    )


def queued_already(entry: Entry) -> IbError:
    return IbError(
        f"A branch of task {entry.task_id} is in the merge queue already: {entry.branch} (entry {entry.id})",
        hint=validation.QUEUE,
    )


AROUND = 60


def words(query: str) -> list[str]:
    return query.casefold().split()


def found(wanted: list[str], texts: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
    """(where, snippet) of the text that holds most of the words, the first of these; None when one is in none of them.

    `texts` are (where, text), the most telling first."""
    missing, best, where, snippet = set(wanted), 0, "", ""
    for place, text in texts:
        here = [word for word in wanted if word in text.casefold()]
        missing -= set(here)
        if len(here) > best:
            best, where, snippet = len(here), place, around(text, here[0])
    return (where, snippet) if wanted and not missing else None


def around(text: str, word: str) -> str:
    """One line with the word in it. Folding can change a text's length: then it is only about there."""
    at = max(0, text.casefold().find(word))
    start = max(0, at - AROUND)
    piece = " ".join(text[start : at + len(word) + AROUND].split())
    return ("…" if start else "") + validation.cut(piece, 2 * AROUND + len(word))
