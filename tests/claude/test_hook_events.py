"""What an event says of its session, by the last word on it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.claude import hook_events
from ibstatus.claude.hook_events import Standing
from ibstatus.state.rules.fleet import STATES
from tests.conftest import PROJECT

PAYLOADS = sorted((PROJECT / "fixtures" / "hook-payloads").glob("*/*.json"))
# What a recorded event makes of a session of which nothing is known; every other event says nothing.
SAYS = {
    "UserPromptSubmit": ("running", ""),
    "UserPromptSubmit.task-notification": ("running", ""),
    "PostToolBatch": ("running", ""),
    "Stop": ("waiting", "input"),
    "Stop.active": ("waiting", "input"),
    "Stop.with-background": ("running", "background"),
    "StopFailure.rate_limit": ("rate_limited", ""),
    "StopFailure.server_error": ("waiting", "error: server_error"),
    "StopFailure.authentication_failed": ("waiting", "error: authentication_failed"),
    "StopFailure.billing_error": ("waiting", "error: billing_error"),
    "StopFailure.invalid_request": ("waiting", "error: invalid_request"),
    "PermissionRequest.AskUserQuestion": ("waiting", "question"),
    "PermissionRequest.ExitPlanMode": ("waiting", "plan"),
    "PermissionRequest.Bash": ("waiting", "permission"),
    "PermissionRequest.Edit": ("waiting", "permission"),
    "PermissionRequest.Monitor": ("waiting", "permission"),
    "PermissionRequest.WebFetch": ("waiting", "permission"),
    "PermissionRequest.Write": ("waiting", "permission"),
    "Notification.idle_prompt": ("waiting", "input"),
    "Notification.permission_prompt": ("waiting", "permission"),
    "PreCompact.auto": ("compacting", ""),
    "PreCompact.manual": ("compacting", ""),
    "SessionEnd.other": ("stopped", ""),
    "SessionEnd.prompt_input_exit": ("stopped", "left by /exit"),
}


def after(body: dict[str, Any], last: Standing) -> Standing | None:
    return hook_events.after(body["hook_event_name"], body, last)


def event(name: str, **more: Any) -> dict[str, Any]:
    return {"hook_event_name": name, **more}


@pytest.mark.parametrize("path", PAYLOADS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recorded_event(path: Any) -> None:
    new = after(json.loads(path.read_text()), Standing())

    assert (None if new is None else (new.state, new.reason)) == SAYS.get(path.stem)


def test_every_expectation_was_recorded() -> None:
    assert {path.stem for path in PAYLOADS} >= set(SAYS)


RUNNING, INPUT, DONE = Standing("running"), Standing("waiting", "input"), Standing("complete")
LIMITED, ENDED = Standing("rate_limited"), Standing("stopped", "")
AT_WORK_BEHIND = Standing("running", "background")
QUESTION, PLAN = Standing("waiting", "question"), Standing("waiting", "plan")
COMPACTING = Standing("compacting", before=("waiting", "question"))
IDLE, DIALOG = (
    event("Notification", notification_type="idle_prompt"),
    event("Notification", notification_type="permission_prompt"),
)


@pytest.mark.parametrize(
    ("last", "body", "now"),
    [
        (RUNNING, IDLE, ("waiting", "input")),
        (DONE, IDLE, None),
        (INPUT, IDLE, None),
        (QUESTION, IDLE, None),
        (LIMITED, IDLE, None),
        (AT_WORK_BEHIND, IDLE, None),
        (COMPACTING, IDLE, ("waiting", "input")),
        (Standing("compacting", before=("complete", "")), IDLE, ("complete", "")),
        (Standing("compacting", before=("waiting", "error: x")), event("StopFailure"), ("waiting", "error: x")),
        (Standing("compacting", before=("complete", "")), event("StopFailure", error="rate_limit"), ("complete", "")),
        (Standing("compacting", before=("running", "")), event("StopFailure", error="x"), ("waiting", "error: x")),
        (QUESTION, DIALOG, None),
        (PLAN, DIALOG, None),
        (INPUT, DIALOG, ("waiting", "permission")),
        (RUNNING, DIALOG, ("waiting", "permission")),
        (RUNNING, event("Notification", notification_type="auth_success"), None),
        (RUNNING, event("PostToolBatch"), None),
        (QUESTION, event("PostToolBatch"), ("running", "")),
        (AT_WORK_BEHIND, event("UserPromptSubmit"), ("running", "")),
        (DONE, event("UserPromptSubmit"), ("running", "")),
        (QUESTION, event("PreCompact"), ("compacting", "")),
        (COMPACTING, event("PreCompact"), None),
        (COMPACTING, event("PostCompact"), ("waiting", "question")),
        (Standing("compacting"), event("PostCompact", trigger="auto"), ("running", "")),
        (Standing("compacting"), event("PostCompact", trigger="manual"), ("waiting", "input")),
        (RUNNING, event("PostCompact"), None),
        (ENDED, event("SessionStart"), ("waiting", "input")),
        (RUNNING, event("SessionStart"), None),
        (RUNNING, event("SessionStart", source="compact"), None),
        (RUNNING, event("SessionStart", source="resume"), ("waiting", "input")),
        (COMPACTING, event("SessionStart", source="resume"), ("waiting", "input")),
        (INPUT, event("SessionStart", source="resume"), ("waiting", "input")),
        (Standing(), event("SessionStart", source="startup"), None),
        (RUNNING, event("SessionEnd", reason="clear"), None),
        (RUNNING, event("Stop", last_assistant_message="**WAITING**"), ("waiting", "input")),
        (RUNNING, event("Stop", last_assistant_message="I HAVE COMPLETED THE GOAL."), ("complete", "")),
        (RUNNING, event("Stop", last_assistant_message=None), ("waiting", "input")),
        (RUNNING, event("Stop"), ("waiting", "input")),
        (DONE, event("Stop", last_assistant_message="I HAVE COMPLETED THE GOAL"), None),
        (RUNNING, event("SomethingNew"), None),
    ],
)  # fmt: skip
def test_what_holds_then(last: Standing, body: dict[str, Any], now: tuple[str, str] | None) -> None:
    new = after(body, last)

    assert (None if new is None else (new.state, new.reason)) == now


@pytest.mark.parametrize("last", [RUNNING, QUESTION, ENDED, INPUT], ids=lambda last: last.state)
def test_after_a_compaction_that_was_typed_it_waits(last: Standing) -> None:
    """No hook tells of Esc: what was typed shows that no turn runs."""
    within = after(event("PreCompact", trigger="manual"), last)

    assert within is not None
    assert within.before == ("waiting", "input")


@pytest.mark.parametrize(
    ("tasks", "state"),
    [
        ([{"status": "running", "command": "sleep 9"}], "running"),
        ([{"status": "running", "type": "subagent"}], "running"),
        ([{"status": "completed", "command": "sleep 9"}], "waiting"),
        ([{"status": "running", "command": "ib listen"}], "waiting"),
        ([{"status": "running", "command": "ib listen"}, {"status": "running", "command": "make"}], "running"),
        ([], "waiting"),
        ("x", "waiting"),
        ([1, None], "waiting"),
    ],
)
def test_what_runs_in_the_background(tasks: object, state: str) -> None:
    new = after(event("Stop", last_assistant_message="so long", background_tasks=tasks), Standing())

    assert new
    assert new.state == state


JSON = st.recursive(
    st.none() | st.booleans() | st.text() | st.integers(), lambda of: st.lists(of) | st.dictionaries(st.text(), of)
)
KEYS = ("last_assistant_message", "background_tasks", "error", "tool_name", "notification_type", "reason", "trigger")
NAMES = st.sampled_from(sorted({name.partition(".")[0] for name in SAYS} | {"PostCompact", "SessionStart", "Other"}))


@given(
    NAMES,
    st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON)),
    st.sampled_from([Standing(), RUNNING, COMPACTING]),
)
def test_anything_gives_a_state_that_the_fleet_knows(name: str, body: dict[str, Any], last: Standing) -> None:
    new = hook_events.after(name, body, last)

    if new is not None:
        assert new.state in STATES
        assert len(new.reason) <= hook_events.LONGEST_REASON + len("error: ")
        assert new.reason.isprintable()


def test_the_words_of_a_failure_are_kept_until_when_a_limit_lasts() -> None:
    words = "You've hit your 5-hour limit · resets 12:57am (UTC)"
    new = after(event("StopFailure", error="rate_limit", last_assistant_message=words), Standing("running"))

    assert new is not None
    assert (new.state, new.said, new.silent) == ("rate_limited", words, False)


@pytest.mark.parametrize("words", [None, 7, ["x"], "\x1b[31m\n"])
def test_a_failure_may_say_nothing(words: object) -> None:
    new = after(event("StopFailure", error="rate_limit", last_assistant_message=words), Standing("running"))

    assert new is not None
    assert "\x1b" not in new.said


def test_a_prompt_after_esc_is_noted_though_no_hook_told_of_the_esc() -> None:
    last = Standing("running", "", 5.0)
    found = hook_events.after("UserPromptSubmit", {}, last)
    assert found is not None
    assert (found.state, hook_events.after("PostToolBatch", {}, last)) == ("running", None)
