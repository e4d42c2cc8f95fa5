"""Sessions that end without a word are written down, many at once without many looks, and never on a guess."""

import os
import time
from pathlib import Path

import pytest

from ibstatus.claude import hook_state
from ibstatus.model.fleet import Agent
from ibstatus.project import agent_meta, home, operations, paths
from ibstatus.state import fleet, hook_history, session_end


@pytest.fixture
def place(repo: paths.Place) -> paths.Place:
    home.enter(repo)
    return repo


def stopped(place: paths.Place, agent, names: list[str]) -> list[Agent]:
    for name in names:
        tree = agent(place, name)
        (tree / "left.txt").write_text("x")
        agent_meta.change(place, name, tmux_session=f"ittybitty-x-{name}", ended=None)
    return [Agent(name, "stopped", "1m", "") for name in names]


def said(place: paths.Place) -> str:
    return "".join(path.read_text() for path in Path(place.spool).glob("*.jsonl"))


def test_a_few_are_asked_for_uncommitted_work(place: paths.Place, tmux, agent) -> None:
    session_end.catch_up(place, stopped(place, agent, ["a", "b"]))

    assert said(place).count('"uncommitted"') == 2
    assert agent_meta.read(place, "a")["ended"]["code"] is None


@pytest.mark.parametrize(
    ("code", "left", "shown"),
    [
        (None, True, ("waiting", "uncommitted")),
        (0, True, ("waiting", "uncommitted")),
        (None, False, ("stopped", "was killed")),
        (3, False, ("stopped", "ended with exit code 3")),
        (0, False, ("stopped", "")),
    ],
)
def test_a_hook_that_comes_after_the_end_takes_its_reason_not_away(
    place: paths.Place, tmux, agent, code: int | None, left: bool, shown: tuple[str, str]
) -> None:
    tree = agent(place, "a")
    if left:
        (tree / "left.txt").write_text("x")
    agent_meta.change(place, "a", tmux_session="ittybitty-x-a", started=1.0, ended=None)
    session_end.note(place, "a", code)
    now = time.time()
    for late in ("Stop", "SessionEnd", "Notification"):
        body = {"notification_type": "idle_prompt", "last_assistant_message": "WAITING"}
        hook_state.note(place, "a", "s", late, body, now + 1)

        seen = {one.id: one for one in fleet.look(place, hook_history.States(place), {}, now + 2).agents}["a"]
        assert (seen.state, seen.reason) == shown, late


def test_many_at_once_are_not(place: paths.Place, tmux, agent, tmp_path: Path, monkeypatch) -> None:
    seen = stopped(place, agent, [f"w{number}" for number in range(8)])
    (tmp_path / "bin").mkdir()
    git = tmp_path / "bin" / "git"
    git.write_text(f"#!/bin/sh\necho git >> {tmp_path}/asked\nexit 1\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")

    session_end.catch_up(place, seen)

    assert not (tmp_path / "asked").exists()
    assert said(place).count('"was killed"') == 8
    session_end.catch_up(place, seen)
    assert said(place).count('"was killed"') == 8


def test_a_tmux_that_cannot_be_asked_ends_nobody(place: paths.Place, agent, tmp_path: Path, monkeypatch) -> None:
    seen = stopped(place, agent, ["a"])
    (tmp_path / "tmux").write_text("#!/bin/sh\necho strange >&2\nexit 3\n")
    (tmp_path / "tmux").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    session_end.catch_up(place, seen)

    assert agent_meta.read(place, "a")["ended"] is None


def test_a_word_that_comes_after_the_pause_changes_nothing(place: paths.Place, agent) -> None:
    agent(place, "a")
    agent_meta.change(place, "a", ended={"code": None, "at": 1.0, "why": session_end.PAUSED})

    session_end.note(place, "a", 143)

    assert agent_meta.read(place, "a")["ended"]["why"] == "paused"


@pytest.mark.parametrize(("kind", "why"), [("pause", "paused"), ("kill", None), ("merge", None)])
def test_a_session_that_ib_ends_is_no_crash(place: paths.Place, agent, kind: str, why: str | None) -> None:
    """Its launcher speaks before the command does: somebody may look in between."""
    agent(place, "a")
    with operations.begin(place, kind, "a") as operation:
        session_end.note(place, "a", 143)
        operation.done()

    assert (agent_meta.read(place, "a")["ended"]["code"], agent_meta.read(place, "a")["ended"].get("why")) == (143, why)
    assert "agent.st" not in said(place)


def test_one_that_ends_while_it_is_resumed_is_told(place: paths.Place, agent) -> None:
    agent(place, "a")
    with operations.begin(place, "resume", "a") as operation:
        session_end.note(place, "a", 1)
        operation.done()

    assert '"ended with exit code 1"' in said(place)


def test_nobody_speaks_for_one_that_is_being_changed(place: paths.Place, tmux, agent) -> None:
    (one,) = stopped(place, agent, ["a"])
    with operations.begin(place, "resume", "a") as operation:
        session_end.catch_up(place, [one])
        assert agent_meta.read(place, "a")["ended"] is None
        operation.done()

    session_end.catch_up(place, [one])
    assert agent_meta.read(place, "a")["ended"]["code"] is None


def test_nobody_speaks_for_one_that_was_resumed_meanwhile(place: paths.Place, tmux, agent, monkeypatch) -> None:
    """Its session was found gone, and it has begun anew before that was written down."""
    (one,) = stopped(place, agent, ["a"])
    asked = session_end.sights.sessions

    def then_resumed(*given):
        found = asked(*given)
        agent_meta.change(place, "a", ended=None, started=2e9)
        return found

    monkeypatch.setattr(session_end.sights, "sessions", then_resumed)
    session_end.catch_up(place, [one])

    assert agent_meta.read(place, "a")["ended"] is None
    assert "agent.st" not in said(place)
