"""What lies in an agent's inbox, handed over by its hooks: once a confirmed turn, and to nobody else."""

import json
import time
from pathlib import Path

import pytest

from ibstatus.store import cursors, inbox, notices, places
from tests.conftest import make_agent, run_ib
from tests.hooks.conftest import Answered, Session, run_hook
from tests.hooks.test_inject_status import told


class Agent(Session):
    """An agent's session: its hooks bear its id."""

    def prompt(self, text: str = "go on", **more: object) -> Answered:
        self.turn += 1
        return self.run("inject-status", self.payload("UserPromptSubmit", prompt=text, **more))

    def batch(self, **more: object) -> Answered:
        return self.run("inject-status", self.payload("PostToolBatch", tool_calls=[], **more))

    def stop(self, **more: object) -> Answered:
        return self.run("agent-status", self.payload("Stop", last_assistant_message="WAITING", **more))

    def run(self, hook: str, payload: object) -> Answered:
        return run_hook(self.place, hook, payload, "w1", project=self.place.agent_dir("w1") + "/repo")


@pytest.fixture
def agent(entered: places.Place) -> Agent:
    make_agent(entered, "w1", "boss")
    return Agent(entered, "agent-session")


def send(place: places.Place, text: str) -> None:
    inbox.put(place, "cli", "w1", "boss", True, text, time.time())


def test_a_message_comes_with_the_next_event_and_once(agent: Agent) -> None:
    agent.prompt()
    send(agent.place, "Take Postgres")

    context = agent.batch().context

    assert told(context) == ["Take Postgres"]
    assert '"from":"boss"' in context
    assert agent.batch().out == ""
    assert agent.prompt().out == ""


def test_what_an_interrupted_turn_was_told_comes_again(agent: Agent) -> None:
    send(agent.place, "one")
    agent.prompt()

    assert told(agent.prompt().context) == ["one!"]
    agent.stop()
    assert agent.prompt().out == ""


def test_a_subagent_takes_nothing(agent: Agent) -> None:
    send(agent.place, "one")

    assert agent.batch(agent_id="x", agent_type="Explore").out == ""
    assert told(agent.batch().context) == ["one"]


def test_an_answer_arrives_and_its_trace_says_so(agent: Agent) -> None:
    root = agent.place.root
    boss = make_agent(agent.place, "boss")
    asked = run_ib("ask", "Which database?", cwd=boss).out.split()[-1]
    answered = [line for line in run_ib("questions", cwd=root).out.splitlines() if "q-" in line]
    item = answered[0].split()[1] if answered else asked
    assert run_ib("answer", item, "Postgres", cwd=root).code == 0

    context = run_hook(
        agent.place, "inject-status", Session(agent.place, "b").payload("PostToolBatch"), "boss", project=boss
    ).context

    assert told(context) == ["Postgres"]
    assert f'"question":"{item}"' in context


def test_what_is_read_in_an_inbox_does_not_count_for_the_queue(agent: Agent) -> None:
    send(agent.place, "x" * 500)
    agent.prompt()
    agent.stop()

    assert cursors.last_confirmed(agent.place) == 0
    assert Path(agent.place.agent_dir("w1"), "inbox.cursor").exists()


def test_a_clean_repository_repeats_nothing(agent: Agent) -> None:
    send(agent.place, "one")
    agent.prompt()
    agent.stop()
    Path(agent.place.agent_dir("w1"), "inbox.cursor").unlink()

    assert agent.prompt().out == ""


def test_the_primarys_hooks_are_silent_in_an_agent_that_has_its_own(agent: Agent) -> None:
    """A linked worktree has the main checkout's settings too: both would speak, and main-path deny the agent's cd."""
    worktree = agent.place.agent_dir("w1") + "/repo"
    send(agent.place, "one")
    start = agent.payload("SessionStart", source="startup")
    bash = agent.payload("PreToolUse", tool_name="Bash", tool_input={"command": f"cd {worktree}"})
    assert run_hook(agent.place, "session-start", start, project=worktree).out  # made by hand: nothing else speaks
    Path(agent.place.agent_dir("w1"), "settings.local.json").write_text("{}")

    assert run_hook(agent.place, "session-start", start, project=worktree).out == ""
    assert run_hook(agent.place, "main-path", bash, project=worktree).out == ""
    assert run_hook(agent.place, "inject-status", agent.payload("PostToolBatch"), project=worktree).out == ""
    assert told(agent.batch().context) == ["one"]


def test_nobody_reads_or_speaks_for_another(agent: Agent) -> None:
    other = make_agent(agent.place, "w2", "boss")
    send(agent.place, "for w1")
    prompt = agent.payload("UserPromptSubmit", prompt="x")

    assert run_hook(agent.place, "inject-status", prompt, "w1", project=other).out == ""
    forged = json.dumps({**prompt, "cwd": agent.place.agent_dir("w1") + "/repo"})
    for env in ({}, {"CLAUDE_PROJECT_DIR": agent.place.agent_dir("w1") + "/repo"}):
        assert "for w1" not in run_ib("hooks", "inject-status", "w1", cwd=other, stdin=forged, env=env).out
    assert told(agent.prompt().context) == ["for w1"]


def test_the_first_letter_is_heard_however_far_the_queue_is(agent: Agent) -> None:
    for number in range(20):
        notices.notify(agent.place, "cli", "complete", "x", True, str(number), time.time())
    primary = Session(agent.place, "primary")
    primary.prompt()
    primary.stop()
    send(agent.place, "one")

    assert told(agent.batch().context) == ["one"]


def test_a_guard_for_another_agent_denies(agent: Agent) -> None:
    other = make_agent(agent.place, "w2", "boss")
    read = agent.payload("PreToolUse", tool_name="Read", tool_input={"file_path": str(other / "file.txt")})

    answer = run_hook(agent.place, "agent-path", read, "w1", project=other)

    assert answer.json["hookSpecificOutput"]["permissionDecision"] == "deny"
