"""resume --all, with the stand-in for the client in real sessions that are cut off."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.store import places
from tests import killed
from tests.ops.test_pause import heard, live, state
from tests.until import until

pytestmark = pytest.mark.usefixtures("fake_claude")


def cut(tmux: Callable[..., str], ib: Callable, *names: str) -> None:
    """The power goes."""
    tmux("kill-server")
    until(lambda: all(state(ib, name) in ("stopped",) or is_over(ib, name) for name in names))


def is_over(ib: Callable, name: str) -> bool:
    return any((one["id"], one["reason"]) == (name, "uncommitted") for one in ib("list", "--json").json())


def told(fake_claude: Path) -> str:
    return "\n".join(path.read_text() for path in fake_claude.glob("projects/*/*.jsonl"))


@pytest.fixture
def fleet(ib, repo: places.Place, tmux) -> None:
    assert ib("new-agent", "--name", "lead", "Lead\n> work 600\n> finish").code == 0
    assert ib("new-agent", "--name", "idle", "--manager", "lead", "Idle\n> wait\n> finish").code == 0
    assert ib("new-agent", "--name", "done", "Done\n> finish").code == 0
    assert ib("new-agent", "--name", "held", "Held\n> wait").code == 0
    until(lambda: [state(ib, name) for name in ("lead", "idle", "done")] == ["running", "waiting", "complete"])
    assert ib("pause", "held").code == 0
    cut(tmux, ib, "lead", "idle", "done")


def test_each_comes_back_as_a_person_would_expect(ib, repo, tmux, fleet, fake_claude: Path) -> None:
    plan = ib("resume", "--all", "--dry-run", "--json").json()
    assert [(one["id"], one["how"]) for one in plan["plan"]] == [("lead", "go on"), ("idle", "wait")]
    assert {one["id"]: one["why"] for one in plan["left"]} == {"done": "complete", "held": "paused"}
    assert live(tmux, repo) == []
    asked = ib("resume", "--all")
    assert (asked.code, "ib resume --all --force" in asked.err) == (1, True)
    assert "2 agents were cut off; ib resume --all" in ib("list").err

    assert ib("resume", "--all", "--force").code == 0

    assert live(tmux, repo) == ["idle", "lead"]
    until(lambda: "Your session was stopped and runs again" in told(fake_claude))
    assert told(fake_claude).count("Your session was stopped and runs again") >= 1
    prompts = heard(fake_claude)
    assert sum("Lead" in text for text in prompts) == 1
    assert sum("Idle" in text for text in prompts) == 1
    until(lambda: "Nobody was cut off." in ib("resume", "--all", "--force").err)


def test_two_at_once_start_nobody_twice(ib, repo, tmux, fleet) -> None:
    argv = [sys.executable, "-m", "ibstatus", "resume", "--all", "--force", "--json"]
    both = [subprocess.Popen(argv, cwd=repo.root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(2)]
    done = [json.loads(one.communicate(timeout=60)[0]) for one in both]

    assert sorted(name for one in done for name in one["resumed"]) == ["idle", "lead"]
    assert live(tmux, repo) == ["idle", "lead"]


@pytest.mark.parametrize("step", [2, 9, 16, 23, 30])
def test_killed_in_the_middle_it_goes_on_where_it_was(ib, repo, tmux, fake_claude: Path, step: int) -> None:
    assert ib("new-agent", "--name", "w", "Task\n> work 600").code == 0
    until(lambda: state(ib, "w") == "running" and sum("Task" in text for text in heard(fake_claude)) == 1)
    cut(tmux, ib, "w")

    killed.run_ib(step, "resume", "--all", "--force", cwd=repo.root)
    assert ib("resume", "--all", "--force").code == 0

    assert live(tmux, repo) == ["w"]
    assert sum("Task" in text for text in heard(fake_claude)) == 1


def test_after_a_power_cut_nobody_seems_to_work_who_waits(ib, repo, tmux, fake_claude: Path) -> None:
    """Nothing had time to say that it ended: the last word of the one at work is that it works."""
    assert ib("new-agent", "--name", "a", "A\n> work 600").code == 0
    assert ib("new-agent", "--name", "b", "B\n> wait").code == 0
    until(lambda: (state(ib, "a"), state(ib, "b")) == ("running", "waiting"))
    for one in ib("list", "--processes", "--json").json():
        os.kill(one["pid"], signal.SIGKILL)
    tmux("kill-server")
    until(lambda: (state(ib, "a"), state(ib, "b")) == ("stopped", "stopped"))

    plan = ib("resume", "--all", "--force", "--json").json()

    assert {one["id"]: one["how"] for one in plan["plan"]} == {"a": "go on", "b": "wait"}
    until(lambda: state(ib, "b") == "waiting")
    until(lambda: "Your session was stopped and runs again" in told(fake_claude))
    for task in ("A\n> work 600", "B\n> wait"):
        assert sum(task in text for text in heard(fake_claude)) == 1


def test_one_that_never_began_begins_with_its_task_once(ib, repo, tmux, fake_claude: Path) -> None:
    wrapper = Path(os.environ["IB_CLAUDE"])
    whole = wrapper.read_text()
    wrapper.write_text("#!/bin/sh\nsleep 600\n")
    assert ib("new-agent", "--name", "w", "Task\n> wait").code == 0
    tmux("kill-server")
    until(lambda: state(ib, "w") == "stopped")
    wrapper.write_text(whole)

    assert ib("resume", "--all", "--force").code == 0

    until(lambda: state(ib, "w") == "waiting")
    assert sum("Task" in text for text in heard(fake_claude)) == 1
    cut(tmux, ib, "w")
    assert ib("resume", "--all", "--force", "--json").json()["plan"][0]["how"] == "wait"
