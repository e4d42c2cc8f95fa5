"""The start of a client: which dialogs ib answers, and how the others reach the user."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.agents import attend
from ibstatus.project import agent_meta, events, logs
from ibstatus.system import locks
from tests.conftest import Done
from tests.until import until

pytestmark = pytest.mark.usefixtures("fake_claude")


def agent(ib: Callable[..., Done]) -> dict[str, object]:
    found: list[dict[str, object]] = ib("list", "--json").json()  # type: ignore[assignment]
    return found[0]


def screen(tmux: Callable[..., str]) -> str:
    return tmux("capture-pane", "-p", "-t", tmux("list-panes", "-a", "-F", "#{pane_id}").split()[0])


@pytest.mark.parametrize("dialog", ["trust", "trust-a"])
def test_trust_is_given_where_the_arrow_stands(ib, tmux, dialog: str) -> None:
    assert ib("new-agent", "--name", "w1", f"x\n> dialog {dialog}\n> finish").code == 0

    until(lambda: agent(ib)["state"] == "complete")


def test_bypass_is_only_accepted_for_yolo(ib, tmux) -> None:
    assert ib("new-agent", "--name", "w1", "--yolo", "x\n> dialog bypass\n> finish").code == 0
    until(lambda: agent(ib)["state"] == "complete")


def test_what_ib_does_not_answer_is_reported(ib, repo, tmux) -> None:
    assert ib("new-agent", "--name", "w1", "x\n> dialog bypass\n> finish").code == 0

    until(lambda: agent(ib)["state"] == "waiting")

    assert agent(ib)["reason"] == "permission"
    until(lambda: "Start-up waits for an answer: bypass" in Path(repo.agent_dir("w1"), "agent.log").read_text())
    assert "I accept" in screen(tmux)


def test_an_old_word_of_its_hooks_is_not_taken_for_the_new_session(ib, repo, tmux) -> None:
    """Resumed with a dialog in the way: that it was at work before says nothing of now."""
    assert ib("new-agent", "--name", "w1", "x\n> wait\n> wait").code == 0
    until(lambda: agent(ib)["state"] == "waiting")
    assert ib("pause", "w1").code == 0
    standing = Path(repo.agent_dir("w1"), "standing")
    standing.write_text(json.dumps({"state": "running", "reason": "", "at": time.time() - 60}) + "\n")
    logs.note(repo, "w1", time.time() - 60, {"kind": "agent.state", "who": "w1", "state": "running", "reason": ""})
    agent_meta.change(repo, "w1", prompt="x")

    assert ib("resume", "w1").code == 0

    mail = Path(repo.agent_dir("w1"), "inbox.jsonl")
    until(lambda: mail.exists() and "runs again" in mail.read_text())
    until(lambda: agent(ib)["state"] == "waiting")


def test_a_limit_in_the_first_turn_is_no_dialog_of_the_start(ib, repo) -> None:
    assert ib("new-agent", "--name", "w1", "> limit usage").code == 0
    until(lambda: agent(ib)["state"] == "rate_limited")
    until(lambda: not locks.is_held(repo.lock("attend-w1")))

    events.fold(repo)
    reasons = [event.get("reason") for event in events.read(repo) if event["kind"] == "agent.state"]
    assert "permission" not in reasons


def test_only_a_word_of_this_session_says_that_it_is_up(repo, agent) -> None:
    agent(repo, "w1")
    Path(repo.agent_dir("w1"), "standing").write_text(json.dumps({"state": "running", "reason": "", "at": 50.0}) + "\n")

    assert attend.is_up(repo, "w1", {"started": 40.0})
    assert not attend.is_up(repo, "w1", {"started": 60.0})
    assert not attend.is_up(repo, "w1", {})
