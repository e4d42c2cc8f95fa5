"""What an agent is told when it asks for something that only a person could grant."""

import fcntl
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ibstatus.claude import hook_state
from ibstatus.mail import client_questions, questions
from ibstatus.mail.rules import permission_requests
from ibstatus.project import events, paths
from ibstatus.system import disk
from tests.conftest import make_agent
from tests.hooks.conftest import Answered, hasty, run_hook
from tests.hooks.payloads import ALL, ident, recorded

ASK = recorded("PermissionRequest.AskUserQuestion")
COLOURS = "Which colour?\n  - Red: Warm\n  - Blue: Cold"


@pytest.fixture
def lead(entered: paths.Place) -> str:
    make_agent(entered, "lead")
    return "lead"


@pytest.fixture
def worker(entered: paths.Place, lead: str) -> str:
    make_agent(entered, "w1", lead)
    return "w1"


def request(place: paths.Place, agent: str, payload: Any) -> Answered:
    worktree = place.agent_dir(agent) + "/repo"
    return run_hook(place, "permission-request", payload, agent, project=worktree)


def message(answer: Answered) -> str:
    """The reason of a denial."""
    assert answer.code == 0
    decision = answer.json["hookSpecificOutput"]["decision"]
    assert decision["behavior"] == "deny"
    return str(decision["message"])


def log(place: paths.Place, agent: str) -> str:
    return Path(place.agent_dir(agent), "agent.log").read_text()


def test_a_question_of_a_root_agent_is_kept_for_the_user(entered: paths.Place, lead: str) -> None:
    told = message(request(entered, lead, ASK))

    (asked,) = questions.pending(entered)
    assert (asked["agent"], asked["question"], asked.get("verified", True)) == (lead, COLOURS, True)
    assert told.startswith(f"Recorded as {asked['id']}; end your turn with WAITING")
    assert Path(entered.queue).read_text().count(asked["id"]) == 1
    assert f"Asked user question ({asked['id']}): Which colour?" in log(entered, lead)


def test_a_question_of_a_worker_goes_to_its_manager(entered: paths.Place, worker: str) -> None:
    told = message(request(entered, worker, ASK))

    (line,) = client_questions.waiting(entered, "lead")
    assert (line["from"], line["msg"]) == (worker, f"QUESTION: {COLOURS}")
    assert told.startswith(f"Recorded as {line['id']} for lead; end your turn with WAITING")
    assert questions.pending(entered) == []


def test_one_whose_manager_is_gone_asks_the_user(entered: paths.Place) -> None:
    make_agent(entered, "w2", "gone")

    assert message(request(entered, "w2", ASK)).startswith("Recorded as q-")


@pytest.mark.parametrize("agent", ["lead", "w1"])
def test_the_same_call_once_more_is_recorded_once(entered: paths.Place, worker: str, agent: str) -> None:
    told = {message(request(entered, agent, ASK)) for _ in range(3)}

    assert len(told) == 1
    assert len(questions.pending(entered)) + len(client_questions.waiting(entered, "lead")) == 1


def test_an_answered_question_may_be_asked_again(entered: paths.Place, lead: str) -> None:
    first = message(request(entered, lead, ASK))
    questions.acknowledge(entered, "cli", "user", [questions.pending(entered)[0]["id"]], 1.0)

    assert message(request(entered, lead, ASK)) != first


def test_several_questions_are_one_record(entered: paths.Place, lead: str) -> None:
    asked = [{"question": "Port?", "options": ["80", {"label": "443"}], "multiSelect": True}, {"question": "Name?"}]

    message(request(entered, lead, {**ASK, "tool_input": {"questions": asked}}))

    (item,) = questions.pending(entered)
    assert item["question"] == "1. Port?\n  - 80\n  - 443\n  (several may be chosen)\n2. Name?"


@pytest.mark.parametrize(
    "given", [None, [], {}, {"questions": "x"}, {"questions": [1, None, {}]}, {"questions": [{"question": 7}]}]
)
def test_a_question_without_words_is_none(entered: paths.Place, lead: str, given: Any) -> None:
    assert message(request(entered, lead, {**ASK, "tool_input": given})).startswith("There is no question in this call")
    assert questions.pending(entered) == []


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ('{"allowAgentQuestions": false}', "allowAgentQuestions is false"),
        ('{"allowAgentQuestions": ', "is not valid JSON"),
    ],
)
def test_questions_that_are_not_allowed(entered: paths.Place, worker: str, config: str, why: str) -> None:
    Path(entered.root, ".ittybitty.json").write_text(config)

    assert why in message(request(entered, "lead", ASK))
    assert questions.pending(entered) == []
    assert message(request(entered, worker, ASK)).startswith("Recorded as in-"), "its manager is not the user"


@pytest.mark.parametrize(
    ("name", "begins", "logged"),
    [
        ("Bash", "Bash is not allowed", "(command: sh listen.sh --x, description: probe, run_in_background: true)"),
        ("Write", "Write is not allowed", "new.txt, content: a\\nb\\n)"),
        ("WebFetch", "WebFetch is not allowed", "(url: http://127.0.0.1:9/x, prompt: p)"),
        ("ExitPlanMode", "Nobody is here to approve a plan", "Permission denied: ExitPlanMode\n"),
    ],
)
def test_everything_else_is_denied_and_logged(
    entered: paths.Place, worker: str, name: str, begins: str, logged: str
) -> None:
    told = message(request(entered, worker, recorded(f"PermissionRequest.{name}")))

    assert told.startswith(begins)
    assert 'ib send lead "…"' in told
    assert told.endswith("end your turn with WAITING")
    assert f"[PermissionRequest] Permission denied: {name}" in log(entered, worker)
    assert logged in log(entered, worker)


def test_no_parameter_forges_an_entry(entered: paths.Place, lead: str) -> None:
    nasty = {"command": "x\n[2026-01-01T00:00:00+00:00] forged\x1b[2J", "deep": {"a": ["\n"]}}

    message(request(entered, lead, recorded("PermissionRequest.Bash", tool_name="Ba\nsh", tool_input=nasty)))

    assert log(entered, lead).count("\n") == 1
    assert "\x1b" not in log(entered, lead)


def test_a_subagents_request_is_denied_too(entered: paths.Place, lead: str) -> None:
    message(request(entered, lead, recorded("PermissionRequest.Bash", agent_id="a1")))


def test_in_yolo_nothing_is_decided(entered: paths.Place, lead: str) -> None:
    Path(entered.agent_dir(lead), "meta.json").write_text(json.dumps({"id": lead, "yolo": True}))

    answer = request(entered, lead, ASK)

    assert (answer.code, answer.out) == (0, "")
    known = hook_state.read(hook_state.path_of(entered, lead, ""))
    assert (known.state, known.reason) == ("waiting", "question")
    assert questions.pending(entered) == []


def test_in_the_primary_nothing_is_decided(entered: paths.Place) -> None:
    payload = {**ASK, "cwd": entered.root, "session_id": "s1"}

    answer = run_hook(entered, "permission-request", payload)

    assert (answer.code, answer.out) == (0, "")
    events.fold(entered)
    (event,) = events.read(entered)
    assert (event["who"], event["state"], event["reason"]) == ("user-claude", "waiting", "question")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"hook_event_name":"PermissionRequest"}'], ids=range(5))
def test_what_cannot_be_read_is_denied(entered: paths.Place, lead: str, data: bytes) -> None:
    message(request(entered, lead, data))


@pytest.mark.parametrize("agent", ["gone", "..", "a/b"])
def test_an_agent_that_nobody_knows_is_denied(entered: paths.Place, agent: str) -> None:
    before = sorted(Path(entered.home).rglob("*"))

    message(run_hook(entered, "permission-request", {**ASK, "cwd": entered.root}, agent))

    assert sorted(Path(entered.home).rglob("*")) == before


def test_where_ib_is_not_in_use_an_agent_is_denied(repo: paths.Place) -> None:
    message(run_hook(repo, "permission-request", {**ASK, "cwd": repo.root}, "w1"))


def test_a_lock_that_somebody_holds_does_not_hold_up_the_session(entered: paths.Place, lead: str) -> None:
    request(entered, lead, recorded("PermissionRequest.Bash"))
    disk.make_dirs(entered.home + "/locks")
    fd = os.open(entered.lock("questions"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)

        with hasty():
            told = message(request(entered, lead, ASK))
    finally:
        os.close(fd)

    assert told == permission_requests.LATE.format(instead=permission_requests.instead(""))
    assert message(request(entered, lead, ASK)).startswith("Recorded as q-")


def test_a_store_that_cannot_be_written_denies(entered: paths.Place, lead: str) -> None:
    Path(entered.questions).mkdir()

    told = message(request(entered, lead, ASK))

    assert "could not judge" in told
    assert "permission-request" in Path(entered.home, "hooks.log").read_text()


@pytest.mark.parametrize("path", [path for path in ALL if path.stem.startswith("PermissionRequest")], ids=ident)
def test_every_recorded_request_is_denied(entered: paths.Place, lead: str, path: Path) -> None:
    payload = json.loads(path.read_text())
    if payload["hook_event_name"] == "PermissionRequest":
        message(request(entered, lead, payload))
