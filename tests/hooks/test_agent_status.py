"""What sessions do, as events in the history: as processes, with what the real client sent."""

import json
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ibstatus.claude import hook_state
from ibstatus.mail import post
from ibstatus.model import constants
from ibstatus.project import events, logs, names, paths, tokens
from ibstatus.state import hook_history
from ibstatus.system import disk
from tests.conftest import make_agent
from tests.hooks.conftest import Answered, Session, run_hook
from tests.hooks.payloads import SOME, ident, recorded

NOW = 1_800_000_000.0


def said(place: paths.Place) -> list[dict[str, Any]]:
    events.fold(place)
    return [event for event in events.read(place) if event["kind"].startswith("agent.")]


def states_of(place: paths.Place) -> list[str]:
    return [f"{event.get('state', 'stopped')} {event['reason']}".strip() for event in said(place)]


@pytest.fixture
def worker(entered: paths.Place) -> str:
    make_agent(entered, "w1", "boss")
    return "w1"


def tell(place: paths.Place, agent: str, name: str, **more: Any) -> Answered:
    answer = run_hook(place, "agent-status", recorded(name, **more), agent, project=place.agent_dir(agent) + "/repo")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    return answer


def test_an_agents_turn(entered: paths.Place, worker: str) -> None:
    tell(entered, worker, "PermissionRequest.Bash")
    tell(entered, worker, "Notification.permission_prompt")
    tell(entered, worker, "Stop", last_assistant_message="Done.\n\n**I HAVE COMPLETED THE GOAL**\n")
    tell(entered, worker, "Notification.idle_prompt")
    tell(entered, worker, "SessionEnd.other")

    assert states_of(entered) == ["waiting permission", "complete", "stopped"]
    assert {event["who"] for event in said(entered)} == {"w1"}
    assert hook_history.States(entered).catch_up()["w1"].state == "stopped"


@pytest.mark.parametrize(
    ("token", "heard"), [("its own", True), ("that of another one of its name", False), ("", True)]
)
def test_a_session_that_has_outlived_its_repository_does_not_speak_for_the_next_of_its_name(
    entered: paths.Place, worker: str, token: str, heard: bool
) -> None:
    tokens.make(entered.token(worker))
    env = {
        "IB_AGENT_ID": worker,
        "IB_AGENT_TOKEN": tokens.of(entered.token(worker)).decode() if heard and token else token,
    }
    project = entered.agent_dir(worker) + "/repo"

    run_hook(entered, "agent-status", recorded("Stop"), worker, project=project, **env)
    allowed = run_hook(entered, "agent-path", recorded("PreToolUse.Bash"), worker, project=project, **env)

    assert (states_of(entered) == ["waiting input"]) is heard
    assert ("NotYours" in allowed.out) is not heard
    assert '"deny"' in allowed.out  # it has no rules here


def test_what_does_not_change_is_noted_once(entered: paths.Place, worker: str) -> None:
    for _ in range(3):
        tell(entered, worker, "Stop")

    assert states_of(entered) == ["waiting input"]


def test_a_prompt_and_a_tool_take_the_waiting_back(entered: paths.Place, worker: str) -> None:
    tell(entered, worker, "Stop")
    hook_state.working(entered, worker, "s", time.time(), began=True)
    tell(entered, worker, "PermissionRequest.AskUserQuestion")
    hook_state.working(entered, worker, "s", time.time(), began=False)
    hook_state.working(entered, worker, "s", time.time(), began=False)

    assert states_of(entered) == ["waiting input", "running", "waiting question", "running"]


def test_compacting_comes_back_to_what_was(entered: paths.Place, worker: str) -> None:
    tell(entered, worker, "Stop", last_assistant_message="WAITING")
    tell(entered, worker, "PreCompact.manual")
    tell(entered, worker, "PostCompact.manual")

    assert states_of(entered) == ["waiting input", "compacting", "waiting input"]


def test_the_primary_is_told_apart_by_its_session(entered: paths.Place) -> None:
    for name in ("s1", "s/2"):
        run_hook(entered, "agent-status", recorded("Stop", session_id=name, cwd=entered.root))

    assert [(event["who"], event["session"], event["state"]) for event in said(entered)] == [
        (constants.PRIMARY, "s1", "waiting"),
        (constants.PRIMARY, "s/2", "waiting"),
    ]
    assert sorted(disk.listdir(entered.home + "/notify/standing")) == sorted(map(names.cursor_file, ("s1", "s/2")))


def test_a_session_that_ends_leaves_nothing(entered: paths.Place) -> None:
    run_hook(entered, "agent-status", recorded("Stop", session_id="s1", cwd=entered.root))
    run_hook(entered, "agent-status", recorded("SessionEnd.clear", session_id="s1", cwd=entered.root))

    assert disk.listdir(entered.home + "/notify/standing") == []
    assert states_of(entered) == ["waiting input"]


def test_subagents_say_nothing_of_their_parent(entered: paths.Place, worker: str) -> None:
    tell(entered, worker, "Stop")
    for name in ("SubagentStop", "SubagentStart"):
        tell(entered, worker, name)
    for name in ("PermissionRequest.Bash", "Notification.permission_prompt", "Stop", "StopFailure.rate_limit"):
        tell(entered, worker, name, agent_id="a57bda9a0bf4ce25c")

    assert states_of(entered) == ["waiting input"]


def test_stop_confirms_what_the_turn_was_told(session: Session) -> None:
    post.notify(session.place, "cli", "complete", "a", True, "hello", NOW)
    assert "hello" in session.prompt().context

    assert session.stop().out == ""

    assert session.prompt().out == ""
    confirmed = [event for event in events_of(session.place) if event["kind"] == "message.confirmed"]
    assert len(confirmed) == 1


def events_of(place: paths.Place) -> list[dict[str, Any]]:
    events.fold(place)
    return events.read(place)


def test_a_failed_turn_confirms_nothing(session: Session) -> None:
    post.notify(session.place, "cli", "complete", "a", True, "hello", NOW)
    assert "hello" in session.prompt().context

    run_hook(session.place, "agent-status", session.payload("StopFailure", error="server_error"))

    assert '"again":true' in session.prompt().context


@pytest.mark.sweep
@pytest.mark.parametrize("path", SOME, ids=ident)
def test_every_recorded_event_goes_through(entered: paths.Place, worker: str, path: Path) -> None:
    for args in ((worker,), ()):
        answer = run_hook(entered, "agent-status", {**json.loads(path.read_text()), "cwd": entered.root}, *args)
        assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert not disk.exists(entered.home + "/hooks.log")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'"x"',
        b'{"hook_event_name": "Stop"',
        b'{"hook_event_name": 7}',
        b'{"hook_event_name": "Stop", "session_id": 7}',
        b'{"hook_event_name": "NewEvent", "session_id": "s"}',
        b'{"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": [], "background_tasks": {"a": 1}}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
    ids=range(11),
)
def test_foreign_payloads_are_met_with_silence(entered: paths.Place, worker: str, data: bytes) -> None:
    for args in ((worker,), ()):
        answer = run_hook(entered, "agent-status", data, *args)
        assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert not disk.exists(entered.home + "/hooks.log")


@pytest.mark.parametrize("agent", ["gone", "..", ".", "a/b", "../w1", "x" * 300])
def test_for_an_agent_that_is_not_there_nothing_is_made(entered: paths.Place, agent: str) -> None:
    before = sorted(path.name for path in Path(entered.home).rglob("*"))

    answer = run_hook(entered, "agent-status", recorded("Stop", cwd=entered.root), agent)

    assert (answer.code, answer.out) == (0, "")
    assert sorted(path.name for path in Path(entered.home).rglob("*")) == before


def test_where_ib_is_not_in_use_nothing_is_made(repo: paths.Place) -> None:
    answer = run_hook(repo, "agent-status", recorded("Stop", cwd=repo.root))

    assert (answer.code, answer.out) == (0, "")
    assert not disk.exists(repo.home)


def test_the_order_holds_when_the_clock_goes_back(entered: paths.Place, worker: str) -> None:
    hook_state.note(entered, worker, "s", "UserPromptSubmit", {}, NOW)
    hook_state.note(entered, worker, "s", "Stop", {}, NOW - 30)
    hook_state.note(entered, worker, "s", "UserPromptSubmit", {}, NOW - 60)
    hook_state.note(entered, worker, "s", "StopFailure", {"error": "rate_limit"}, NOW - 59)

    assert states_of(entered) == ["running", "waiting input", "running", "rate_limited"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b'{"state": 1}', b"\xff\n", b'{"state":"waiting","reason":"input"}\n']
)
def test_a_broken_file_is_as_none(entered: paths.Place, worker: str, content: bytes) -> None:
    Path(entered.agent_dir(worker), "standing").write_bytes(content)

    tell(entered, worker, "Stop")
    tell(entered, worker, "Stop")

    assert states_of(entered) == ["waiting input"]


def test_a_link_or_a_pipe_in_its_place_is_left_alone(entered: paths.Place, worker: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine\n")
    path = Path(entered.agent_dir(worker), "standing")
    path.symlink_to(other)
    assert run_hook(entered, "agent-status", recorded("Stop", cwd=entered.root), worker).out == ""
    path.unlink()
    disk.mkfifo(str(path), 0o600)
    assert run_hook(entered, "agent-status", recorded("Stop", cwd=entered.root), worker).out == ""

    assert other.read_text() == "mine\n"


def test_hooks_at_the_same_moment_leave_the_history_in_the_order_of_the_file(entered: paths.Place, worker: str) -> None:
    def work(name: str, body: dict[str, Any]) -> None:
        for number in range(40):
            hook_state.note(entered, worker, "s", name, body, NOW + number)

    threads = [
        threading.Thread(target=work, args=args)
        for args in (("UserPromptSubmit", {}), ("Stop", {}), ("StopFailure", {"error": "rate_limit"}))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    noted = states_of(entered)
    last = hook_state.read(hook_state.path_of(entered, worker, "s"))
    assert f"{last.state} {last.reason}".strip() == noted[-1]
    assert all(before != after or after == "running" for before, after in pairwise(noted))  # each prompt is one


def test_the_end_of_a_turn_tells_what_was_said(entered: paths.Place, worker: str) -> None:
    long = "x" * 5000 + "\n\nShall I \x1b[31mgo on\u202e?\n"
    tell(entered, worker, "Stop", last_assistant_message=long)
    quiet = hook_history.States(entered).catch_up()["w1"]
    hook_state.working(entered, worker, "s", time.time())
    tell(entered, worker, "Stop", last_assistant_message="Which one?\n\nWAITING")
    asking = hook_history.States(entered).catch_up()["w1"]

    assert (quiet.state, quiet.reason, quiet.silent) == ("waiting", "input", True)
    assert quiet.said.endswith("Shall I [31mgo on ?")
    assert len(quiet.said) <= 300
    assert quiet.said.isprintable()
    assert (asking.reason, asking.said, asking.silent) == ("input", "Which one? WAITING", False)


def test_a_hook_that_is_slower_than_the_next_event_does_not_undo_it(entered: paths.Place, worker: str) -> None:
    hook_state.note(entered, worker, "s", "UserPromptSubmit", {}, NOW, 100.0)
    hook_state.note(entered, worker, "s", "Stop", {"last_assistant_message": "I HAVE COMPLETED THE GOAL"}, NOW, 103.0)
    hook_state.note(entered, worker, "s", "PermissionRequest", {"tool_name": "Bash"}, NOW, 102.0)
    hook_state.note(entered, worker, "s", "UserPromptSubmit", {}, NOW, 104.0)
    hook_state.note(entered, worker, "s", "PostToolBatch", {}, NOW, 105.0)
    hook_state.note(entered, worker, "s", "PermissionRequest", {"tool_name": "Bash"}, NOW, 104.5)

    assert states_of(entered) == ["running", "complete", "running"]


def test_that_it_waits_is_no_word_on_a_turn_that_has_just_begun(entered: paths.Place, worker: str) -> None:
    """The client says so after a minute of rest; one that comes behind the next prompt is of before it."""
    idle = {"notification_type": "idle_prompt"}
    hook_state.note(entered, worker, "s", "UserPromptSubmit", {}, NOW, 100.0)
    hook_state.note(entered, worker, "s", "Notification", idle, NOW + 0.1, 100.1)
    hook_state.note(entered, worker, "s", "PreCompact", {}, NOW + 5, 105.0)
    hook_state.note(entered, worker, "s", "Notification", idle, NOW + 5.1, 105.1)
    assert states_of(entered) == ["running", "compacting"]

    hook_state.note(entered, worker, "s", "PostCompact", {"trigger": "auto"}, NOW + 9, 109.0)
    hook_state.note(entered, worker, "s", "Notification", idle, NOW + 70, 170.0)  # after Esc, of which no hook tells
    assert states_of(entered) == ["running", "compacting", "running", "waiting input"]


def test_a_hook_knows_when_it_began(entered: paths.Place, worker: str) -> None:
    tell(entered, worker, "Stop")
    first = hook_state.read(hook_state.path_of(entered, worker, "")).mono
    tell(entered, worker, "Stop")

    assert 0 < first <= hook_state.read(hook_state.path_of(entered, worker, "")).mono
    assert first < time.clock_gettime(time.CLOCK_BOOTTIME)


def test_after_a_crash_the_next_turn_is_noted(entered: paths.Place, worker: str) -> None:
    """Nobody told the standing of the crash: what it says is of the client that is gone."""
    hook_state.working(entered, worker, "s", time.time())
    logs.note(entered, worker, time.time(), {"kind": "agent.stopped", "who": worker, "reason": "was killed"})
    hook_state.note(entered, worker, "s", "SessionStart", {"source": "resume"}, time.time())
    hook_state.working(entered, worker, "s", time.time())

    assert states_of(entered) == ["running", "stopped was killed", "waiting input", "running"]


def test_a_hook_that_is_killed_in_between_is_made_good_by_the_next(
    entered: paths.Place, worker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    hook_state.working(entered, worker, "s", NOW)
    with monkeypatch.context() as patch:
        patch.setattr(disk, "pwrite", killed)
        with pytest.raises(KeyboardInterrupt):
            hook_state.note(entered, worker, "s", "Stop", {}, NOW)
    assert states_of(entered)[-1] == "waiting input"

    hook_state.working(entered, worker, "s", NOW)
    hook_state.note(entered, worker, "s", "Stop", {}, NOW)

    assert states_of(entered)[-1] == "waiting input"
