"""An agent of ib and the task it was spawned for: taken under its name, kept while it lives, over when it is done."""

import os
from collections.abc import Callable
from typing import Any

import psutil

from ibstatus.board import opening
from ibstatus.board.port import Board, Lost
from ibstatus.drivers import daemon
from ibstatus.errors import IbError
from ibstatus.model.board import Claimer, Fence, Task
from ibstatus.ops import session_end
from ibstatus.ops.board import branches
from ibstatus.rules import board as rule
from ibstatus.rules import board_duties, board_prompt, names
from ibstatus.store import disk, meta, places

LEASE = 900.0  # a dead agent's task returns after a quarter of an hour: time for `ib resume --all`
GONE, MERGED = "its agent was removed", "merged by hand"


def prepared(board: Board, given: str, words: str) -> tuple[Task, str]:
    """The task, if it can be taken, and what its agent is told; `words` are what the caller adds."""
    id = rule.meant(given, board.ids(given) if rule.is_prefix(given) else [])
    task = board.task(id)
    if task is None or task.status != rule.READY:
        status = rule.told(task.status) if task is not None else "gone"
        raise IbError(f"The task {id} is {status}, and only a ready one can be taken", hint=rule.shown(id))
    told = board_prompt.text(task, board.context(id), spawned=True)
    return task, f"{told}\n{words}\n" if words else told


def name_for(place: places.Place, task: Task) -> str:
    """The agent is called like its task; in later attempts with their number."""
    base, number = task.id[: names.LONGEST - 5].rstrip("-"), task.attempt + 1
    name = base if number == 1 else f"{base}-{number}"
    while disk.exists(place.agent_dir(name)):
        number += 1
        name = f"{base}-{number}"
    return name


def take(place: places.Place, agent: str, id: str) -> None:
    """Who comes second gets nothing: the claim is of the board, not of what was seen before."""
    board = opening.opened(place)
    try:
        task = board.claim_task(id, Claimer(agent, LEASE))
    finally:
        board.close()
    meta.change(place, agent, task={"id": id, "attempt": task.attempt, "board": opening.mark_of(place)})
    watch_here(place)


def is_elsewhere(place: places.Place, known: dict[str, Any]) -> bool:
    """Was its task taken from another board than the one that we see? A DSN may stand in somebody's environment."""
    task = known.get("task")
    return isinstance(task, dict) and task.get("board", opening.mark_of(place)) != opening.mark_of(place)


def watch_here(place: places.Place) -> None:
    """A supervisor that was begun with another DSN would look for the task in vain: it makes room for one with ours."""
    process = daemon.holder(place)
    if process is None:
        return
    try:
        known = process.environ().get(opening.VARIABLE, "")
    except psutil.Error:
        return
    if known != os.environ.get(opening.VARIABLE, ""):
        daemon.stop(place)


def fence_of(place: places.Place, agent: str) -> Fence | None:
    """None for an agent without a task."""
    return fence(agent, meta.read(place, agent))


def fence(agent: str, known: dict[str, Any]) -> Fence | None:
    task = known.get("task")
    if not isinstance(task, dict) or not isinstance(task.get("attempt"), int):
        return None
    return Fence(str(task.get("id")), agent, task["attempt"])


def give_back(place: places.Place, agent: str, reason: str = GONE) -> str:
    """'' when there was nothing to give back. What is finished by now stays finished."""
    task = ended(place, agent, lambda board, mine: board.release(mine, reason))
    return f"The task {task.id} is {rule.told(task.status)} again" if task is not None else ""


def merged(place: places.Place, agent: str) -> str:
    """A person has merged its work by hand: then its task is done."""
    task = ended(place, agent, lambda board, mine: board.done([mine], MERGED)[0])
    return f"The task {task.id} is done" if task is not None else ""


def ended(place: places.Place, agent: str, end: Callable[[Board, Fence], Task]) -> Task | None:
    mine = fence_of(place, agent)
    if mine is None or not opening.is_there(place):
        return None
    board = opening.opened(place)
    try:
        known = board.task(mine.task_id)
        return end(board, mine) if known is not None and known.status == rule.CLAIMED else None
    except Lost:
        return None
    finally:
        board.close()


def beat(board: Board, mine: Fence) -> None:
    board.beat(mine, LEASE)


def finish(place: places.Place, board: Board, mine: Fence, said: str) -> str:
    """The agent is complete, so its task is done, and its branch is queued when it has commits. Returns what to say."""
    task = board.task(mine.task_id)
    if task is None or task.status != rule.CLAIMED:
        return ""
    branch = branches.of_agent(place, mine.agent, task.test)
    left = [line[3:] for line in session_end.uncommitted(place, mine.agent)]
    board.done([mine], board_duties.summary(said, left), branch)
    queued = f"; {branch.branch} is queued for {branch.base}" if branch is not None else ""
    return f"{mine.agent} is complete: task {task.id} is done{queued}"
