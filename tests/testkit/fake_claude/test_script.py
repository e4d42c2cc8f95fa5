"""The steps, each without a terminal."""

import json

import pytest

from ibstatus.testkit.fake_claude import script
from tests.testkit.fake_claude.conftest import Project

SESSION = "01234567-89ab-cdef-0123-456789abcdef"


def lines(*steps: str) -> str:
    return "Do it.\n" + "".join(f"> {step}\n" for step in steps)


def test_a_prompt_plays_itself(project: Project) -> None:
    steps = lines("say One.", "run touch made; echo out; echo err >&2", "write sub/a.txt one\\ntwo", "finish All done.")
    done = project.play("-p", "--session-id", SESSION, steps)

    assert done == (0, "All done.\n\nI HAVE COMPLETED THE GOAL\n", "")
    assert (project.root / "made").exists()
    assert (project.root / "sub/a.txt").read_text() == "one\ntwo\n"
    assert project.heard(SESSION) == [
        ("prompt", steps),
        ("tool", "out\nerr"),
        ("tool", f"File created successfully at: {project.root}/sub/a.txt"),
    ]


@pytest.mark.parametrize(
    ("step", "last"),
    [
        ("wait", "WAITING"),
        ("wait Which one?", "Which one?\n\nWAITING"),
        ("finish", "I HAVE COMPLETED THE GOAL"),
        ("end", "Done."),
        ("end That is all.", "That is all."),
        ("say Only this.", "WAITING"),
        ("frobnicate now", "WAITING"),
    ],
)
def test_how_a_turn_ends(project: Project, step: str, last: str) -> None:
    project.on("Stop")
    assert project.play("-p", lines(step)).out == last + "\n"
    assert [payload["last_assistant_message"] for payload in project.fired("Stop")] == [last]


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("error", "server_error"),
        ("error billing_error", "billing_error"),
        ("limit", "rate_limit"),
        ("limit usage", "rate_limit"),
        ("limit wait", "rate_limit"),
    ],
)
def test_a_turn_that_fails_fires_stop_failure_instead_of_stop(project: Project, step: str, error: str) -> None:
    project.on("Stop", "StopFailure")
    project.play("-p", lines(step))
    assert [(payload["hook_event_name"], payload["error"]) for payload in project.fired()] == [("StopFailure", error)]


def test_a_commit_takes_everything(project: Project) -> None:
    project.play("-p", lines("write a.txt text", "commit It's a 'first' one", "end"))
    log = project.play("-p", "--session-id", SESSION, lines("run git log --format=%s", "end"))
    assert log.code == 0
    assert project.heard(SESSION)[1] == ("tool", "It's a 'first' one")


def test_without_a_script_it_says_what_it_is(project: Project) -> None:
    assert project.play("-p", "Do it.").out == f"{script.STAND_IN}\n\nWAITING\n"


def test_the_script_of_the_environment_comes_first(project: Project) -> None:
    file = project.root / "script"
    file.write_text("# a comment\n\nfinish From the file.\n")
    done = project.play("-p", lines("end From the prompt."), FAKE_CLAUDE_SCRIPT=str(file))
    assert done.out.startswith("From the file.")

    done = project.play("-p", "x", FAKE_CLAUDE_SCRIPT=str(project.root / "none"))
    assert done.code == 1
    assert "Could not read the script" in done.err


def test_a_failing_command(project: Project) -> None:
    project.on("PostToolUse", "PostToolUseFailure", "PostToolBatch")
    project.play("-p", lines("run echo out; echo err >&2; exit 3", "end"))
    assert project.names() == ["PostToolUseFailure", "PostToolBatch"]
    assert project.fired()[0]["error"] == "Exit code 3\nout\nerr"


def test_it_compacts(project: Project) -> None:
    project.on("PreCompact", "PostCompact", "SessionStart")
    project.play("-p", lines("compact", "end"))
    assert project.names() == ["SessionStart", "PreCompact", "PostCompact", "SessionStart"]
    assert project.fired("SessionStart")[1]["source"] == "compact"


@pytest.mark.parametrize(
    ("step", "names"),
    [
        ("compact short", ["PreCompact", "Stop"]),
        ("compact manual short", ["PreCompact", "Stop"]),
        ("compact error", ["PreCompact", "StopFailure"]),
    ],
)
def test_a_compaction_that_comes_to_nothing(project: Project, step: str, names: list[str]) -> None:
    project.on("PreCompact", "PostCompact", "Stop", "StopFailure")
    project.play("-p", lines(step, "end"))
    assert project.names() == names
    assert project.fired("PreCompact")[0]["trigger"] == ("manual" if "manual" in step else "auto")


@pytest.mark.parametrize(("step", "code"), [("crash", -9), ("crash SEGV", -11), ("crash 7", 7)])
def test_it_crashes_without_a_word(project: Project, step: str, code: int) -> None:
    project.on("SessionEnd", "Stop")
    assert project.play("-p", lines(step)).code == code
    assert project.names() == []


def test_a_prompt_comes_from_stdin_too(project: Project) -> None:
    assert project.play("-p", stdin=b"x\n> end From stdin.\n").out == "From stdin.\n"
    assert project.play("-p", "--output-format", "json", "> end Words.").out.startswith('{"type": "result"')
    assert project.play("-p").code == 1


def test_what_was_heard_is_printed(project: Project) -> None:
    project.play("-p", "--session-id", SESSION, lines("end"))
    done = project.play("--heard", str(project.transcript(SESSION)))
    assert json.loads(done.out)["how"] == "prompt"
    assert project.play("--heard", "/nowhere").code == 1
