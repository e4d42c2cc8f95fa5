"""pause and resume, with the stand-in for the client in real sessions."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.agents import pause as pausing
from ibstatus.project import operations, paths
from ibstatus.system import locks
from tests.conftest import make_agent
from tests.until import until

pytestmark = pytest.mark.usefixtures("fake_claude")


def state(ib: Callable, name: str) -> str:
    return next((agent["state"] for agent in ib("list", "--json").json() if agent["id"] == name), "gone")


def heard(fake_claude: Path) -> list[str]:
    """The prompts that all sessions were given, in their order. A line that is just being written waits."""
    found = []
    for path in sorted(fake_claude.glob("projects/*/*.jsonl")):
        for line in path.read_text().split("\n")[:-1]:
            entry = json.loads(line)
            if entry.get("type") == "user" and isinstance(entry["message"]["content"], str):
                found.append(entry["message"]["content"])
    return found


def live(tmux: Callable[..., str], repo: paths.Place) -> list[str]:
    begin = f"ittybitty-{Path(repo.repo_id).read_text().strip()}-"
    return sorted(name.removeprefix(begin) for name in tmux("list-sessions", "-F", "#{session_name}").split())


def test_it_ends_and_goes_on_where_it_was(ib, repo, tmux, fake_claude: Path) -> None:
    assert ib("new-agent", "--name", "foo", "Task\n> wait\n> finish").code == 0
    assert ib("new-agent", "--name", "foo-bar", "Other\n> wait").code == 0
    until(lambda: (state(ib, "foo"), state(ib, "foo-bar")) == ("waiting", "waiting"))

    paused = ib("pause", "foo")

    assert (paused.code, paused.out) == (0, "Agent paused. Use 'ib resume foo' to continue.\n")
    assert live(tmux, repo) == ["foo-bar"]
    assert (state(ib, "foo"), state(ib, "foo-bar")) == ("stopped", "waiting")
    assert ib("pause", "foo").code == 1

    assert ib("resume", "foo").code == 0
    assert live(tmux, repo) == ["foo", "foo-bar"]
    until(lambda: state(ib, "foo") == "complete")
    assert sum("Task" in text for text in heard(fake_claude)) == 1
    assert ib("resume", "foo").code == 1
    log = Path(repo.agent_dir("foo"), "agent.log").read_text()
    assert log.index("Agent paused") < log.index("Agent resumed")


def test_resume_counts_among_those_that_live(ib, repo, tmux) -> None:
    for name in ("a", "b"):
        assert ib("new-agent", "--name", name, "x\n> wait").code == 0
    assert ib("pause", "a").code == 0
    assert ib("config", "set", "maxAgents", "1").code == 0

    done = ib("resume", "a")

    assert done.code == 1
    assert "maxAgents is 1" in done.err
    assert live(tmux, repo) == ["b"]


def test_an_agent_made_by_hand_cannot_be_resumed(ib, repo) -> None:
    make_agent(repo, "old")

    done = ib("resume", "old")

    assert done.code == 1
    assert "was not started by ib new-agent" in done.err


def test_one_whose_client_never_came_up_begins_with_its_task(ib, repo, tmux, fake_claude: Path, tmp_path: Path) -> None:
    wrapper, go = Path(os.environ["IB_CLAUDE"]), tmp_path / "go"
    whole = wrapper.read_text()
    wrapper.write_text(f"#!/bin/sh\nwhile [ ! -e '{go}' ]; do sleep 0.1; done\nexit 9\n")
    assert ib("new-agent", "--name", "w1", "Task\n> finish").code == 0
    go.touch()
    until(lambda: state(ib, "w1") == "stopped")
    wrapper.write_text(whole)

    assert ib("resume", "w1").code == 0

    until(lambda: state(ib, "w1") == "complete")
    assert sum("Task" in text for text in heard(fake_claude)) == 1


def test_a_client_that_an_upgrade_has_moved_is_found_again(ib, repo, tmp_path: Path, monkeypatch) -> None:
    assert ib("new-agent", "--name", "w1", "Task\n> wait\n> finish").code == 0
    until(lambda: state(ib, "w1") == "waiting")
    assert ib("pause", "w1").code == 0
    moved = tmp_path / "moved"
    Path(os.environ["IB_CLAUDE"]).rename(moved)
    monkeypatch.setenv("IB_CLAUDE", str(moved))

    assert ib("resume", "w1").code == 0

    until(lambda: state(ib, "w1") == "complete")


def told(repo: paths.Place) -> int:
    mail = Path(repo.agent_dir("w1"), "inbox.jsonl")
    return mail.read_text().count("runs again") if mail.exists() else 0


def test_it_is_told_to_go_on_also_where_nobody_attends_to_it(ib, repo) -> None:
    assert ib("new-agent", "--name", "w1", "Task\n> wait\n> finish").code == 0
    until(lambda: state(ib, "w1") == "waiting")
    until(lambda: not locks.is_held(repo.lock("attend-w1")))
    assert ib("pause", "w1").code == 0

    with locks.Lock(repo.lock("attend-w1")):
        assert ib("resume", "w1").code == 0
        assert told(repo) == 1

        with operations.begin(repo, "resume", "w1") as operation:  # killed right after the letter
            pausing.send_on(operation)
        assert ib("list").code == 0
        assert told(repo) == 2
