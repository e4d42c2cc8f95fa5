"""An agent with a task, and the part of the supervisor that sees to it, on a clock that the test turns."""

import json
from pathlib import Path

from ibstatus.board import agent_tasks as boarders
from ibstatus.board.port import Board
from ibstatus.model.board import Fence
from ibstatus.model.fleet import Agent
from ibstatus.project import agent_meta, paths
from ibstatus.supervisor.background import Errands
from ibstatus.supervisor.board_tasks import Boarding
from ibstatus.supervisor.log import Log
from tests.board.doing import add, known
from tests.conftest import make_agent

SAID = "JWT with refresh tokens. I HAVE COMPLETED THE GOAL"


class Watched:
    """The part of the supervisor that sees to the board, on a clock that the test turns."""

    def __init__(self, place: paths.Place) -> None:
        self.place = place
        self.log = place.home + "/log"
        self.begin()
        self.now = 1000.0

    def begin(self) -> None:
        """A new supervisor knows nothing of what the one before did."""
        self.errands = Errands(Log(self.log))
        self.boarding = Boarding(self.place, self.errands, Log(self.log))

    def look(self, *agents: Agent, after: float = 0.0) -> float | None:
        self.now += after
        again = self.boarding.look(agents, self.now)
        self.errands.wait()
        self.errands.collect()
        return again

    def said(self) -> str:
        return Path(self.log).read_text() if Path(self.log).exists() else ""


def taken(place: paths.Place, board: Board, id: str = "it", **more: str) -> Path:
    """An agent `w` that was spawned for this task; its worktree."""
    add(board, id, **more)
    worktree = make_agent(place, "w")
    agent_meta.change(place, "w", base="main", task={"id": id})
    boarders.take(place, "w", id)
    return worktree


def agent(state: str, reason: str = "", said: str = "") -> Agent:
    return Agent("w", state, "1m", "task", reason=reason, created=1.0, said=said)


def run_out(board: Board, id: str = "it") -> None:
    """As if the quarter of an hour were nearly over."""
    task = known(board, id)
    assert task.claimed_by is not None
    board.beat(Fence(task.id, task.claimed_by, task.attempt), 60.0)


def letters(place: paths.Place) -> list[str]:
    path = Path(place.agent_dir("w"), "inbox.jsonl")
    return [json.loads(line)["msg"] for line in path.read_text().splitlines()] if path.exists() else []
