"""What the tests of the board say often. A lease of less than nothing has run out at once, by every clock."""

from typing import Any

from ibstatus.board.port import Board
from ibstatus.board.rules import validation as rules
from ibstatus.model.board import Branch, Claimer, Event, Fence, NewTask, Task, Template

ANY = Template()
RUN_OUT = -1.0
BRANCH = Branch("repo", "agent/a", "main", "a" * 40)


def new(id: str, **more: Any) -> NewTask:
    return NewTask(id, more.pop("title", f"Title of {id}"), **more)


def add(board: Board, id: str, **more: Any) -> Task:
    return board.add(new(id, **more))


def claim(board: Board, agent: str = "ann", lease: float = 900.0) -> Fence:
    """The best there is, and its fence."""
    (task,) = board.claim(ANY, Claimer(agent, lease))
    return fence(task)


def claim_it(board: Board, id: str, agent: str = "ann", lease: float = 900.0) -> Fence:
    return fence(board.claim_task(id, Claimer(agent, lease)))


def fence(task: Task) -> Fence:
    assert task.claimed_by is not None
    return Fence(task.id, task.claimed_by, task.attempt)


def finish(board: Board, id: str, branch: Branch | None = None, agent: str = "ann") -> Task:
    (task,) = board.done([claim_it(board, id, agent)], branch=branch)
    return task


def status(board: Board, id: str) -> str:
    task = board.task(id)
    assert task is not None
    return task.status


def known(board: Board, id: str) -> Task:
    task = board.task(id)
    assert task is not None
    return task


def since(board: Board, seq: int, *channels: str) -> list[Event]:
    return board.events(seq, channels=channels or rules.CHANNELS)


def told(board: Board, seq: int = 0) -> list[str]:
    """`channel task`, in order."""
    return [f"{event.channel} {event.task_id}" for event in board.events(seq)]
