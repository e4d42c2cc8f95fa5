"""The dialogs: text is swallowed, Enter takes what ❯ stands at."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.testkit.fake_claude import dialogs, screen
from ibstatus.testkit.fake_claude import steps as recordings
from tests.testkit.fake_claude.conftest import Project, Screen
from tests.testkit.fake_claude.test_script import lines

Play = Callable[..., Screen]


def recorded(name: str) -> list[str]:
    """From its rule on."""
    drawn = [line.rstrip() for line in recordings.named(name).rstrip("\n").splitlines()]
    start = next(number for number, line in enumerate(drawn) if line.startswith("────"))
    return [line for line in drawn[start:] if line]


def drawn(dialog: dialogs.Dialog) -> list[str]:
    return [line.rstrip() for line in screen.laid_out(dialog.lines(), 120) if line]


def test_they_are_drawn_as_recorded() -> None:
    trust = dialogs.trust("/srv/ib/probe/f/first", older=False, has_settings=True)
    assert drawn(trust) == recorded("2.1.326/02")
    assert drawn(dialogs.bypass()) == recorded("2.1.326/05")
    limit = [line for line in recorded("2.1.197/69") if line != "❯ /rate-limit-options"]
    assert drawn(dialogs.limit()) == limit[-len(drawn(dialogs.limit())) :]


@pytest.mark.parametrize(
    ("kind", "keys"), [("trust", ["Down", "Enter"]), ("trust-a", ["Enter"]), ("bypass", ["Down", "Enter"])]
)
def test_before_the_start(screen: Play, project: Project, kind: str, keys: list[str]) -> None:
    project.on("SessionStart", "SessionEnd")
    shown = screen(lines(f"dialog {kind}", "finish"))
    shown.shows("❯", "No, exit", "Enter to confirm · Esc to cancel")
    shown.type("typed into it")
    assert project.names() == []
    for key in keys:
        shown.keys(key)
    shown.shows("I HAVE COMPLETED THE GOAL")
    assert project.names() == ["SessionStart"]
    assert shown.line == ""


@pytest.mark.parametrize(
    ("kind", "keys"), [("trust", ["Enter"]), ("trust-a", ["2"]), ("trust-a", ["Escape"]), ("bypass", ["Enter"])]
)
def test_no_exits(screen: Play, project: Project, kind: str, keys: list[str]) -> None:
    project.on("SessionStart", "SessionEnd")
    shown = screen(lines(f"dialog {kind}", "finish"))
    shown.shows("Enter to confirm · Esc to cancel")
    shown.keys(*keys)
    assert shown.code == 1
    assert project.names() == []


def test_permission_is_given(screen: Play, project: Project, tmp_path: Path) -> None:
    """A paste into it does nothing, Enter approves."""
    project.on("PermissionRequest")
    shown = screen(
        "--permission-mode", "default", lines("run touch made", "run touch made", "run touch more", "finish")
    )
    shown.shows("Do you want to proceed?", "❯ 1. Yes", "Esc to cancel · Tab to amend")
    assert shown.line is None
    shown.paste(b"4 no\n", tmp_path)
    shown.type("no ")
    assert not (project.root / "made").exists()
    shown.keys("Down")
    shown.shows("❯ 2. Yes, and don’t ask again for: touch made")
    shown.keys("Enter")
    shown.shows("❯ 1. Yes", " touch more")
    assert (project.root / "made").exists()
    shown.keys("1")
    shown.shows("I HAVE COMPLETED THE GOAL")
    assert len(project.fired()) == 2
    assert shown.line == ""


@pytest.mark.parametrize("key", ["4", "Escape"])
def test_permission_is_refused(screen: Play, project: Project, key: str) -> None:
    """The turn is over, and no Stop hook hears of it."""
    project.on("Stop", "PostToolUse", "PostToolUseFailure")
    shown = screen("--permission-mode", "default", lines("run touch made", "finish"))
    shown.shows("❯ 1. Yes")
    shown.keys(key)
    shown.shows("Did not run 1 call", "Interrupted · What should Claude do instead?")
    shown.ready()
    assert project.names() == []
    assert not (project.root / "made").exists()


@pytest.mark.parametrize(("keys", "answer"), [(["Enter"], "Red"), (["Down", "Enter"], "Blue"), (["2"], "Blue")])
def test_a_question_is_answered(screen: Play, project: Project, keys: list[str], answer: str) -> None:
    project.on("PostToolUse")
    shown = screen(lines("ask Which colour? | Red | Blue", "finish"))
    shown.shows("❯ 1. Red", "Enter to select · ↑/↓ to navigate · Esc to cancel")
    for key in keys:
        shown.keys(key)
    shown.shows(f"· Which colour? → {answer}", "I HAVE COMPLETED THE GOAL")
    assert project.fired()[0]["tool_response"]["answers"] == {"Which colour?": answer}


def test_a_hook_answers_a_question_without_any_screen(screen: Play, project: Project) -> None:
    questions = '[{"question": "Which?", "header": "Question", "options": [], "multiSelect": false}]'
    decision = f'{{"behavior": "allow", "updatedInput": {{"questions": {questions}, "answers": {{"Which?": "Blue"}}}}}}'
    said = f'{{"hookSpecificOutput": {{"hookEventName": "PermissionRequest", "decision": {decision}}}}}'
    project.on("PermissionRequest", then=f"printf %s '{said}'")
    shown = screen(lines("ask Which? | Red | Blue", "finish"))
    shown.shows("· Which? → Blue", "I HAVE COMPLETED THE GOAL")


def test_a_plan_and_the_others_in_the_middle_of_a_turn(screen: Play, project: Project) -> None:
    steps = ["plan 1. Do it", "dialog permission touch made", "dialog question", "dialog trust", "finish"]
    shown = screen("--permission-mode", "plan", lines(*steps))
    for text, keys in (
        ("Exit plan mode?", ["Enter"]),
        ("Do you want to proceed?", ["Enter"]),
        ("☐ Question", ["Enter"]),
        ("I trust this folder", ["Down", "Enter"]),
    ):
        shown.shows(text)
        for key in keys:
            shown.keys(key)
    shown.shows("I HAVE COMPLETED THE GOAL", "manual mode on")
    assert (project.root / "made").exists()


def test_the_menu_at_a_limit(screen: Play, project: Project) -> None:
    project.on("StopFailure")
    shown = screen(lines("limit usage", "finish"))
    shown.shows("You've hit your 5-hour limit", "What do you want to do?", "❯ 1. Stop and wait for limit to reset")
    shown.type("more")
    shown.keys("Enter")
    shown.ready()
    assert project.fired()[0]["error"] == "rate_limit"
    shown.submit("Again.")
    shown.shows("I HAVE COMPLETED THE GOAL")


def test_limits_and_errors_are_drawn_as_recorded(screen: Play) -> None:
    steps = ("limit wait", "limit rate", "error authentication_failed", "wait")
    shown = screen("--permission-mode", "default", lines(*steps), size="120x40")
    for name in ("2.1.326/69", "2.1.326/63", "2.1.326/64b"):
        drawn = [line.rstrip(" ") for line in recordings.named(name).splitlines() if line.strip()]
        prompt = next(number for number, line in enumerate(drawn) if line.startswith("❯ "))
        shown.shows(*[line for line in drawn[prompt + 1 :] if "─" not in line and "manual mode" not in line])
        shown.type("Go on.")
        shown.until(lambda: shown.line == "Go on.")
        shown.keys("Enter")
    shown.shows("WAITING")


@pytest.mark.parametrize("name", ["02", "2.1.326/31", "2.1.197/69", "plan-mode"])
def test_a_recorded_screen_is_shown_as_it_is(screen: Play, name: str) -> None:
    shown = screen(lines("say One.", f"screen {name} 600"), size="160x48")
    wanted = [line.rstrip() for line in recordings.named(name).rstrip("\n").splitlines()]
    shown.until(lambda: [line.rstrip() for line in str(shown).splitlines()][: len(wanted)] == wanted)
    shown.keys("Escape")
    shown.shows("Interrupted")
