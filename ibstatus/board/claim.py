"""claim: take a task that fits, and wait for one if that is wanted. What is taken is told, or given back."""

import time
from collections.abc import Callable, Sequence
from functools import partial

from ibstatus.board.interrupt import Ended, Ending
from ibstatus.board.port import Board, Gone, Lost
from ibstatus.board.reconnect import Steady
from ibstatus.board.rules import validation as rule
from ibstatus.model.board import Branch, Claimer, Fence, Task, Template

LOOK_EVERY = 15.0  # a lease that runs out rings no bell
WAITING = "Nothing is ready: waiting for a task"
UNHEARD = "whoever claimed it could not be told"

Take = Callable[[Board], list[Task]]
Tell = Callable[[list[Task]], None]


def fitting(template: Template, who: Claimer, count: int) -> Take:
    return lambda board: board.claim(template, who, count)


def after(
    fences: Sequence[Fence], summary: str, branch: Branch | None, template: Template, who: Claimer, check: Tell
) -> Take:
    """The next one, in the step that finishes these. It is given back where `check` finds fault with that."""

    def take(board: Board) -> list[Task]:
        taken = board.done_and_claim(fences, template, who, summary, branch)
        told(board, taken, check)
        return taken

    return take


def just(given: str, who: Claimer) -> Take:
    """The one that was named; IbError when it cannot be had."""

    def take(board: Board) -> list[Task]:
        return [board.claim_task(rule.meant(given, board.ids(given) if rule.is_prefix(given) else []), who)]

    return take


def at_once(board: Board, take: Take, tell: Tell, ending: Ending) -> list[Task]:
    """No signal comes between a claim and its word: who has gone away meanwhile gets nothing."""
    with ending.held():
        taken = take(board)
        if taken:
            told(board, taken, partial(heard, tell, ending))
        return taken


def waited(steady: Steady, take: Take, seconds: float | None, tell: Tell, ending: Ending) -> list[Task]:
    """[] when the time is over. A claim whose answer is lost with the server is given back by its lease."""
    until, said = None if seconds is None else time.monotonic() + seconds, False
    while True:
        try:
            taken = at_once(steady.opened(), take, tell, ending)
        except Gone as error:
            if until is not None and time.monotonic() >= until:
                raise
            steady.lost(error)
            continue
        steady.found()
        left = LOOK_EVERY if until is None else min(LOOK_EVERY, until - time.monotonic())
        if taken or left <= 0:
            return taken
        if not said:
            steady.say(WAITING)
            said = True
        steady.wait(left)


def heard(tell: Tell, ending: Ending, taken: list[Task]) -> None:
    """Once it is told, it is theirs: an end that was asked for meanwhile is this one."""
    if ending.asked:
        raise Ended(ending.asked)
    tell(taken)
    ending.asked = 0


def told(board: Board, taken: list[Task], tell: Tell) -> None:
    """Nobody keeps a task that they do not know of."""
    try:
        tell(taken)
    except BaseException:
        for task in taken:
            give_back(board, task)
        raise


def give_back(board: Board, task: Task) -> None:
    """Where the board is gone, too, the lease does it."""
    try:
        board.release(Fence(task.id, str(task.claimed_by), task.attempt), UNHEARD)
    except (Lost, Gone):
        return
