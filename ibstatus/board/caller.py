"""Where a command meets the board: which task is meant, and in whose name it is spoken."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ibstatus.board import holdings, opening
from ibstatus.board.port import Board
from ibstatus.board.rules import validation as rule
from ibstatus.errors import IbError, UsageError
from ibstatus.model.board import Entry, Fence, NewTask, Task
from ibstatus.project import identity, paths


class Desk(NamedTuple):
    place: paths.Place
    caller: identity.Caller
    board: Board


class Wish(NamedTuple):
    """A task as somebody types it."""

    title: str
    body: str = ""
    project: str = ""
    priority: int = rule.USUAL
    capability: str = ""
    after: tuple[str, ...] = ()
    test: str = ""
    attempts: int = 3
    approval: bool = False
    draft: bool = False


@contextmanager
def at(place: paths.Place, caller: identity.Caller) -> Iterator[Desk]:
    board = opening.opened(place)
    try:
        yield Desk(place, caller, board)
    finally:
        board.close()


def meant(desk: Desk, given: str) -> str:
    """The whole id of what was typed, or of its beginning."""
    return rule.meant(given, desk.board.ids(given) if rule.is_prefix(given) else [])


def task(desk: Desk, given: str) -> Task:
    found = desk.board.task(meant(desk, given))
    if found is None:
        raise IbError(f"The task '{rule.cut(given, 60)}' is gone", hint="ib board list")
    return found


def entry_of(desk: Desk, task_id: str) -> Entry | None:
    """The newest of its branches in the merge queue."""
    return next((entry for entry in reversed(desk.board.entries()) if entry.task_id == task_id), None)


def name(caller: identity.Caller, claimed: str) -> str:
    """In whose name the caller speaks. An agent has only its own."""
    given = rule.checked_name(claimed, "An agent's name") if claimed else caller.name
    if caller.kind == identity.AGENT and given != caller.name:
        raise IbError(f"{caller.name} cannot speak for {given}", hint="leave out --agent")
    return given


def fence(desk: Desk, given: str, agent: str, attempt: int | None) -> Fence:
    """An agent of ib shows the attempt that it was given without being asked."""
    id, who = meant(desk, given), name(desk.caller, agent)
    return Fence(id, who, attempt if attempt is not None else own_attempt(desk, id))


def own_attempt(desk: Desk, id: str) -> int | None:
    return holdings.attempt_of(desk.place, desk.caller.name, id) if desk.caller.kind == identity.AGENT else None


def add(desk: Desk, wish: Wish) -> Task:
    """The id is drawn here, again should somebody have it."""
    title = rule.checked_title(wish.title)
    after = tuple(dict.fromkeys(meant(desk, given) for given in wish.after))
    while True:
        id = rule.task_id(title, os.urandom(3).hex())
        if not desk.board.ids(id):
            return desk.board.add(filled(id, title, wish, after))


def filled(id: str, title: str, wish: Wish, after: tuple[str, ...]) -> NewTask:
    if not 1 <= wish.attempts <= rule.MOST_ATTEMPTS:
        raise UsageError(f"A task has 1 to {rule.MOST_ATTEMPTS} attempts: {wish.attempts}")
    return NewTask(
        id,
        title,
        rule.text_of(wish.body, "A task's text"),
        rule.checked_name(wish.project, "A project") if wish.project else None,
        rule.checked_priority(wish.priority),
        rule.checked_name(wish.capability, "A capability") if wish.capability else None,
        after,
        rule.text_of(wish.test, "A test command"),
        wish.attempts,
        wish.approval,
        wish.draft,
    )
