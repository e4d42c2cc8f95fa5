"""A hook that comes after the end of its session was noted is no news: one notice of the end, and that is all."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ibstatus.claude import hook_state
from ibstatus.mail import queue, queue_lines
from ibstatus.project import agent_meta, logs, paths
from tests.supervisor.conftest import Machine, fleet_member


def ended(place: paths.Place, now: float, left: int) -> None:
    """As start.sh and the supervisor note it."""
    agent_meta.change(place, "c1", started=now - 100, ended={"code": 3, "at": now, "left": left})
    event = {"kind": "agent.stopped", "who": "c1", "reason": "ended with exit code 3"}
    if left:
        event = {"kind": "agent.state", "who": "c1", "state": "waiting", "reason": "uncommitted"}
    logs.note(place, "c1", now, event)


def told(place: paths.Place) -> list[str]:
    seen = queue.view(place)
    try:
        return [str(line["msg"]) for line in queue_lines.told(seen.read(seen.base, seen.end)[1], seen.base, 0).values]
    finally:
        seen.close()


def states(machine: Machine, seconds: float) -> Iterator[tuple[str, str]]:
    for _ in range(int(seconds * 10)):
        machine.run(0.1, 0.1)
        agent = machine.supervisor.publisher.before["c1"]
        yield agent.state, agent.reason


@pytest.mark.parametrize("words", ["WAITING", "I HAVE COMPLETED THE GOAL", "x"])
@pytest.mark.parametrize("left", [0, 2])
@pytest.mark.parametrize("late", [0.0, 0.3, 60.0])
def test_it_is_told_once(machine: Machine, repo: paths.Place, tmux, words: str, left: int, late: float) -> None:
    Path(fleet_member(repo, "c1", machine.clock().wall - 400), "repo").mkdir()
    machine.run(2)
    ended(repo, machine.clock().wall, left)
    machine.run(6 if late else 0.1, 0.1)
    hook_state.note(repo, "c1", "s", "Stop", {"last_assistant_message": words}, machine.clock().wall + late)
    machine.run(late, 1.0)
    hook_state.note(repo, "c1", "s", "SessionEnd", {"reason": "other"}, machine.clock().wall)

    shown = ("waiting", "uncommitted") if left else ("stopped", "ended with exit code 3")
    assert set(states(machine, 8)) == {shown}
    assert len(told(repo)) == 1
