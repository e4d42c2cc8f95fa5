"""A Task that becomes an agent, or goes on as the client's own; nothing is done twice and nobody waits long."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ibstatus.hooks import intercept_task
from ibstatus.project import paths
from ibstatus.system import disk
from tests.conftest import make_agent
from tests.hooks.conftest import run_hook
from tests.hooks.payloads import SOME, ident, recorded
from tests.until import until

TASK = recorded("PreToolUse.Agent")
Spawn = Callable[[str], "subprocess.Popen[bytes]"]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is."""
    monkeypatch.setattr(intercept_task, "PATIENCE", 20.0)
    monkeypatch.setattr(intercept_task, "ENDING", 20.0)


@pytest.fixture
def spawn(tmp_path: Path) -> Any:
    """A program in the place of `ib new-agent`, as the hook starts it."""
    started: list[subprocess.Popen[bytes]] = []

    def run(script: str) -> "subprocess.Popen[bytes]":
        started.append(
            subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, cwd=tmp_path, start_new_session=True)
        )
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def test_an_id_in_time_counts(spawn: Spawn) -> None:
    assert intercept_task.said_by(spawn("echo agent-1a2b; exec sleep 60")) == "agent-1a2b"


@pytest.mark.parametrize(
    "script", ["exit 2", "echo; exit 0", "echo 'not an id'", "echo ../x", "printf agent-1 ; exit 1"]
)
def test_a_spawn_that_fails_is_none(spawn: Spawn, script: str) -> None:
    assert intercept_task.said_by(spawn(script)) == ""


def test_one_that_is_late_is_told_to_end(spawn: Spawn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intercept_task, "PATIENCE", 0.2)
    late = spawn("trap 'echo back > undone; exit 1' TERM; while :; do sleep 0.05; done")

    assert intercept_task.said_by(late) == ""

    until(lambda: (tmp_path / "undone").exists())
    assert late.wait() == 1


def test_an_id_at_the_last_moment_still_counts(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intercept_task, "PATIENCE", 0.2)

    assert intercept_task.said_by(spawn("trap 'echo agent-9; exit 0' TERM; while :; do sleep 0.02; done")) == "agent-9"


def test_one_that_talks_without_end_is_none(spawn: Spawn) -> None:
    assert intercept_task.said_by(spawn("exec tr '\\0' x < /dev/zero")) == ""


@pytest.mark.parametrize("tool", ["Agent", "Task"])
def test_without_the_command_the_task_goes_on(entered: paths.Place, tool: str) -> None:
    answer = run_hook(entered, "intercept-task", {**TASK, "tool_name": tool, "cwd": entered.root})

    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert list(Path(entered.home).rglob("prompt-*")) == []
    assert not disk.exists(entered.home + "/hooks.log")


def test_the_command_line(entered: paths.Place) -> None:
    given = TASK["tool_input"]

    assert intercept_task.words("/f", "", given) == ["new-agent", "--prompt-file", "/f"]
    assert intercept_task.words("/f", "lead", {**given, "model": "opus"}) == [
        "new-agent", "--prompt-file", "/f", "--worker", "--manager", "lead", "--model", "opus",
    ]  # fmt: skip
    assert "--model" not in intercept_task.words("/f", "", {**given, "model": "--evil"})


@pytest.mark.parametrize(
    ("tool", "given", "prompt"),
    [
        ("Agent", {"prompt": "do it", "description": "sub"}, "do it"),
        ("Task", {"prompt": " ", "description": "sub"}, "sub"),
        ("Task", {"prompt": "do it", "subagent_type": "code-reviewer"}, "do it"),
        *(("Task", {"prompt": "do it", "subagent_type": kind}, "") for kind in intercept_task.LEFT_ALONE),
        ("Bash", {"prompt": "do it"}, ""),
        ("TaskCreate", {"prompt": "do it"}, ""),
        ("Agent", {}, ""),
        ("Agent", {"prompt": 7}, ""),
        ("Agent", None, ""),
        ("Agent", "do it", ""),
    ],
)
def test_which_task_is_taken(tool: str, given: object, prompt: str) -> None:
    assert intercept_task.prompt_of(tool, given) == prompt


def test_where_it_is_silent(entered: paths.Place) -> None:
    make_agent(entered, "w1", "boss")
    for payload, args in (
        ({**TASK, "agent_id": "a1"}, ()),
        (TASK, ("w1",)),
        ({**TASK, "hook_event_name": "PostToolUse"}, ()),
        (b"{", ()),
    ):
        answer = run_hook(entered, "intercept-task", payload, *args)
        assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert not disk.exists(entered.home + "/tmp")


@pytest.mark.sweep
@pytest.mark.parametrize("path", [path for path in SOME if not path.stem.startswith("PreToolUse.Agent")], ids=ident)
def test_every_other_recorded_event_is_met_with_silence(entered: paths.Place, path: Path) -> None:
    answer = run_hook(entered, "intercept-task", {**json.loads(path.read_text()), "cwd": entered.root})

    assert (answer.code, answer.out, answer.err) == (0, "", "")
