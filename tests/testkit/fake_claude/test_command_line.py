"""The command line, as the client reads it."""

import pytest

from ibstatus.testkit.fake_claude import arguments
from tests.testkit.fake_claude.conftest import Project

SESSION = "01234567-89ab-cdef-0123-456789abcdef"


def test_everything_at_once() -> None:
    words = ["--session-id", SESSION, "--settings=a b", "--model", "m", "--dangerously-skip-permissions"]
    options = arguments.read([*words, "--allowedTools", "Bash(git log:*),Edit", "Read", "-p", "--", "-x is the prompt"])
    assert options.prompt == "-x is the prompt"
    assert options.values == {"session-id": SESSION, "settings": "a b", "model": "m"}
    assert options.mode == "bypassPermissions"
    assert options.is_printing
    assert arguments.rules(options.lists["allow"]) == ["Bash(git log:*)", "Edit", "Read"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--frobnicate"], "error: unknown option '--frobnicate'"),
        (["-x"], "error: unknown option '-x'"),
        (["--model"], "error: option '--model <value>' argument missing"),
        (["--session-id", "7"], "Error: Invalid session ID. Must be a valid UUID."),
        (["--permission-mode", "yolo"], "error: option '--permission-mode <mode>' argument 'yolo' is invalid."),
        (["--settings", "/nowhere", "x"], "Error: Settings file not found: /nowhere"),
        (["--resume", SESSION], f"No conversation found with session ID: {SESSION}"),
    ],
)
def test_what_it_refuses(project: Project, argv: list[str], message: str) -> None:
    done = project.play(*argv)
    assert done.code == 1
    assert done.err.startswith(message)
    assert done.out == ""


def test_an_id_is_used_once(project: Project) -> None:
    assert project.play("-p", "--session-id", SESSION, "> end").code == 0
    done = project.play("-p", "--session-id", SESSION, "> end")
    assert (done.code, done.err) == (1, f"Error: Session ID {SESSION} is already in use.\n")


def test_a_session_in_which_nothing_was_said_is_not_taken_up(project: Project) -> None:
    assert project.play("-p", "--session-id", SESSION, "> end").code == 0
    path = project.transcript(SESSION)
    path.write_text('{"type": "mode"}\n')
    done = project.play("-p", "--resume", SESSION, "> end")
    assert (done.code, done.err) == (1, f"No conversation found with session ID: {SESSION}\n")


def test_version_and_help(project: Project) -> None:
    assert project.play("--version").out == "2.1.326 (Claude Code) fake\n"
    assert "I HAVE COMPLETED THE GOAL" in project.play("--help").out


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.UTF-8", "tr_TR.UTF-8"])
def test_any_locale(project: Project, locale: str) -> None:
    assert project.play("-p", "x\n> end ❯ Größe ✓", LC_ALL=locale).out == "❯ Größe ✓\n"
