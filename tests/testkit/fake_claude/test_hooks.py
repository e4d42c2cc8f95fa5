"""What hooks get and what becomes of what they answer."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.peers.hooks import says, wakes
from tests.testkit.fake_claude.conftest import Project, Screen
from tests.testkit.fake_claude.test_script import SESSION, lines

RECORDED = Path(__file__).parents[2].parent / "shared" / "claude-code" / "hooks" / "2.1.326"
# ours never run in the background; the recorded batch was of another tool
OTHER = (".run_in_background", ".backgroundTaskId", "[].tool_input.command", "[].tool_input.description")
ALL = (
    *("SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"),
    *("PostToolBatch", "PermissionRequest", "Stop", "StopFailure", "PreCompact", "PostCompact"),
)


def context(event: str, text: str) -> str:
    return says(json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}))


def answer(event: str, **said: object) -> str:
    return says(json.dumps({"hookSpecificOutput": {"hookEventName": event, **said}}))


def lacks(recorded: Any, own: Any, path: str = "") -> list[str]:
    """The names of the fields that ours does not have, those within fields too."""
    if isinstance(recorded, dict):
        missing = [f"{path}.{key}" for key in recorded if not isinstance(own, dict) or key not in own]
        inner = [
            lacks(recorded[key], own[key], f"{path}.{key}") for key in recorded if isinstance(own, dict) and key in own
        ]
        return missing + [name for names in inner for name in names]
    if isinstance(recorded, list) and recorded and isinstance(own, list) and own:
        return lacks(recorded[0], own[0], f"{path}[]")
    return []


@pytest.fixture
def every_payload(project: Project, screen: Callable[..., Screen]) -> list[dict[str, Any]]:
    project.on(*ALL)
    steps = ["run true", "run touch made", "write a.txt text", "run false", "ask Which colour? | Red | Blue", "plan"]
    shown = screen("--permission-mode", "default", lines(*steps, "compact", "error authentication_failed", "wait"))
    for dialog in ("to proceed?", "to create a.txt?", "to proceed?", "Enter to select", "Exit plan mode?"):
        shown.shows("❯ 1. ", dialog)
        shown.keys("Enter")
    shown.shows("Invalid API key")
    shown.submit("again")
    shown.shows("WAITING")
    assert shown.leave() == 0
    resumed = screen("--resume", shown.session).ready()
    resumed.until(lambda: len(project.fired("SessionStart")) == 3)
    return project.fired()


@pytest.mark.skipif(not RECORDED.is_dir(), reason="the recordings of the real client are not here")
def test_payloads_have_every_field_that_was_recorded(every_payload: list[dict[str, Any]]) -> None:
    compared = []
    for payload in every_payload:
        event = payload["hook_event_name"]
        detail = payload.get("tool_name") or payload.get("source") or payload.get("trigger") or payload.get("reason")
        names = [f"{event}.{detail}", f"{event}.{payload.get('error')}", event]
        file = next((RECORDED / f"{name}.json" for name in names if (RECORDED / f"{name}.json").exists()), None)
        if file is not None:
            recorded = json.loads(file.read_text())
            missing = [name for name in lacks(recorded, payload) if not name.endswith(OTHER)]
            assert missing == [], file.name
            compared.append(file.name)
    assert len(set(compared)) >= 20, sorted(set(compared))


def test_the_order_of_events(every_payload: list[dict[str, Any]]) -> None:
    names = [payload["hook_event_name"] for payload in every_payload]
    assert names[:5] == ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch"]
    assert names[5:9] == ["PreToolUse", "PermissionRequest", "PostToolUse", "PostToolBatch"]
    assert names[-6:] == ["SessionStart", "StopFailure", "UserPromptSubmit", "Stop", "SessionEnd", "SessionStart"]
    turns = {payload.get("prompt_id") for payload in every_payload} - {None}
    assert len(turns) == 2
    assert len({payload["session_id"] for payload in every_payload}) == 1


def test_what_a_hook_finds_around_it(project: Project) -> None:
    project.on("Stop", then=f'env | grep -E "^CLAUDE" > {project.log.parent}/env; pwd >> {project.log.parent}/env')
    project.play("-p", "--session-id", SESSION, "> end")
    found = (project.log.parent / "env").read_text().splitlines()
    assert {"CLAUDECODE=1", f"CLAUDE_CODE_SESSION_ID={SESSION}", "CLAUDE_CODE_ENTRYPOINT=sdk-cli"} <= set(found)
    assert f"CLAUDE_PROJECT_DIR={project.root}" in found
    assert found[-1] == str(project.root)


def test_context_reaches_the_model_where_it_belongs(project: Project) -> None:
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch"):
        project.on(event, then=context(event, f"OF-{event}"))
    project.on("UserPromptSubmit", then="echo plain words")
    prompt = lines("run echo hi", "end")
    project.play("-p", "--session-id", SESSION, prompt)
    assert project.heard(SESSION) == [
        ("context", "SessionStart hook additional context: OF-SessionStart"),
        ("prompt", prompt),
        ("context", "UserPromptSubmit hook additional context: OF-UserPromptSubmit"),
        ("context", "UserPromptSubmit hook success: plain words"),
        ("tool", "hi"),
        ("context", "PreToolUse:Bash hook additional context: OF-PreToolUse"),
        ("context", "PostToolUse:Bash hook additional context: OF-PostToolUse"),
        ("context", "PostToolBatch hook additional context: OF-PostToolBatch"),
    ]


@pytest.mark.parametrize(("size", "whole"), [(10_000, True), (10_001, False)])
def test_long_context_is_cut_as_the_client_cuts_it(project: Project, size: int, whole: bool) -> None:
    file = project.log.parent / "answer"
    said = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "x" * size}}
    file.write_text(json.dumps(said))
    project.on("SessionStart", then=f"cat {file}")
    project.play("-p", "--session-id", SESSION, "> end")
    how, text = project.heard(SESSION)[0]
    assert how == "context"
    assert ("x" * size in text) is whole
    if not whole:
        kept = text.partition("saved to: ")[2].splitlines()[0]
        assert Path(kept).read_text() == "x" * size


@pytest.mark.parametrize(
    "then",
    [
        answer("PreToolUse", permissionDecision="deny", permissionDecisionReason="NOT-THAT"),
        says('{"decision": "block", "reason": "NOT-THAT"}'),
        "echo NOT-THAT >&2; exit 2",
    ],
)
def test_a_tool_call_is_denied(project: Project, then: str) -> None:
    project.on("PreToolUse", then=then, matcher="Bash")
    project.on("PostToolUse", "PostToolUseFailure")
    project.play("-p", "--session-id", SESSION, lines("run touch made", "write a.txt x", "end"))
    assert not (project.root / "made").exists()
    assert project.heard(SESSION)[1][1].rstrip().endswith("NOT-THAT")
    assert project.names() == ["PreToolUse", "PostToolUse"]


def test_permission_is_asked_for_by_hook_and_denied_without_a_terminal(project: Project) -> None:
    project.on("PermissionRequest")
    project.play("-p", "--session-id", SESSION, "--permission-mode", "default", lines("run touch made", "end"))
    assert "haven't granted it yet" in project.heard(SESSION)[1][1]
    assert project.names() == ["PermissionRequest"]

    project.on("PermissionRequest", then=answer("PermissionRequest", decision={"behavior": "allow"}))
    project.play("-p", "--permission-mode", "default", lines("run touch made", "end"))
    assert (project.root / "made").exists()


@pytest.mark.parametrize(
    ("options", "runs"),
    [
        (["--permission-mode", "bypassPermissions"], True),
        (["--dangerously-skip-permissions"], True),
        (["--permission-mode", "default"], False),
        (["--permission-mode", "default", "--allowedTools=Bash"], True),
        (["--permission-mode", "default", "--allowedTools=Bash(touch:*)"], True),
        (["--permission-mode", "default", "--allowedTools=Bash(touch made)"], True),
        (["--permission-mode", "default", "--allowedTools=Bash(tou:*)"], False),
        (["--permission-mode", "bypassPermissions", "--disallowedTools=Bash(touch *)"], False),
        (["--permission-mode", "dontAsk"], False),
        (["--settings", '{"permissions": {"allow": ["Bash(touch *)"], "defaultMode": "default"}}'], True),
        (["--settings", '{"permissions": {"deny": ["Bash"]}}'], False),
    ],
)
def test_permissions(project: Project, options: list[str], runs: bool) -> None:
    project.play("-p", *options, "--", lines("run touch made", "end"))
    assert (project.root / "made").exists() is runs


def test_a_blocked_prompt_is_dropped(project: Project) -> None:
    project.on("UserPromptSubmit", then=says('{"decision": "block", "reason": "not now"}'))
    project.on("Stop")
    project.play("-p", "--session-id", SESSION, "> end")
    assert project.names() == ["UserPromptSubmit"]
    assert project.heard(SESSION) == []


def test_a_stop_hook_keeps_the_turn_going(project: Project) -> None:
    """With the steps after it; eight times in a row, then it ends all the same."""
    project.on("Stop", then="echo MORE >&2; exit 2")
    project.play("-p", "--session-id", SESSION, lines("wait", "finish"))
    stops = project.fired("Stop")
    assert [stop["stop_hook_active"] for stop in stops] == [False] + [True] * 8
    assert len({stop["prompt_id"] for stop in stops}) == 1
    assert stops[1]["last_assistant_message"] == "I HAVE COMPLETED THE GOAL"
    assert project.heard(SESSION)[1] == ("context", "Stop hook blocking error from command: MORE")


def test_a_hook_that_takes_too_long_is_not_heard(project: Project) -> None:
    project.on("UserPromptSubmit", then="sleep 60; echo late", timeout=0.2)
    project.play("-p", "--session-id", SESSION, "> end")
    assert [how for how, _ in project.heard(SESSION)] == ["prompt"]


def test_a_hook_in_two_files_runs_once(project: Project) -> None:
    project.on("Stop")
    done = project.play("-p", "--settings", json.dumps(project.settings), "> end")
    assert done.code == 0
    assert project.names() == ["Stop"]


def test_print_mode_waits_for_what_may_wake_it(project: Project) -> None:
    flag = project.log.parent / "flag"
    project.on("Stop", then=f"mkdir {flag} || exit 0; sleep 0.3; {wakes('THE-NEWS')}", asyncRewake=True)
    project.on("UserPromptSubmit")
    project.play("-p", "--session-id", SESSION, lines("wait", "finish"))
    assert "THE-NEWS" in project.fired("UserPromptSubmit")[1]["prompt"]
    assert [stop["stop_hook_active"] for stop in project.fired("Stop")] == [False, True]


def test_an_idle_session_is_woken(project: Project, screen: Callable[..., Screen]) -> None:
    """With a draft on the line, which stays."""
    bell, flag = project.log.parent / "bell", project.log.parent / "flag"
    waits = f"mkdir {flag} || exit 0; while [ ! -e {bell} ]; do sleep 0.05; done"
    project.on("Stop", then=f"{waits}; {wakes('THE-NEWS')}", asyncRewake=True)
    shown = screen(lines("wait First.", "finish Second."))
    shown.shows("WAITING")
    shown.ready()
    shown.type("a draft")
    shown.until(lambda: shown.line == "a draft")
    bell.write_text("")
    shown.shows("I HAVE COMPLETED THE GOAL")
    assert shown.line == "a draft"
    assert project.heard(shown.session)[1][1].endswith('from command "Stop": THE-NEWS\n\n</system-reminder>')
