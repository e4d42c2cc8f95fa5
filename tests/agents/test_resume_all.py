"""resume --all, with the stand-in for the client in real sessions that are cut off."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import ibstatus
from ibstatus.agents import resume_all
from ibstatus.agents.rules import resume_plan
from ibstatus.claude import hook_state, transcript
from ibstatus.model.fleet import Agent, Snapshot, Wake
from ibstatus.project import agent_meta, home, logs, paths
from ibstatus.state import episode_file, session_end, snapshot
from ibstatus.state.rules.limits import Park
from ibstatus.system import locks
from ibstatus.testkit.fake_claude import transcript as hearing
from tests import killed
from tests.agents.test_pause import heard, live, state
from tests.sweeps import spread
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
def fleet(ib, repo: paths.Place, tmux) -> None:
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


@pytest.mark.sweep
@pytest.mark.parametrize("step", spread(range(2, 31, 7), 3))
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
        with suppress(ProcessLookupError):
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

    until(lambda: sum("Task" in text for text in heard(fake_claude)) == 1)
    until(lambda: state(ib, "w") == "waiting" and not locks.is_held(repo.lock("attend-w")))
    cut(tmux, ib, "w")
    assert ib("resume", "--all", "--force", "--json").json()["plan"][0]["how"] == "wait"
    assert sum("Task" in text for text in heard(fake_claude)) == 1


OF_ITSELF = '{"type":"mode","mode":"normal"}\n{"type":"user","message":{"content":"The ta'
NOTHING_SAID = ["", OF_ITSELF.splitlines(keepends=True)[0], OF_ITSELF]


@pytest.mark.parametrize("left", NOTHING_SAID, ids=["empty", "of itself", "torn"])
def test_one_that_was_cut_off_before_its_task_was_written_down_begins_with_it(
    ib, repo, tmux, fake_claude: Path, left: str
) -> None:
    """The client takes up no session of which it has written nothing but settings, and begins none by its name."""
    wrapper = Path(os.environ["IB_CLAUDE"])
    whole = wrapper.read_text()
    wrapper.write_text("#!/bin/sh\nsleep 600\n")
    assert ib("new-agent", "--name", "w", "Task\n> finish").code == 0
    folder = Path(transcript.folder(str(fake_claude), os.path.realpath(repo.agent_dir("w") + "/repo")))
    folder.mkdir(parents=True)
    (folder / f"{agent_meta.read(repo, 'w')['session_id']}.jsonl").write_text(left)
    tmux("kill-server")
    until(lambda: state(ib, "w") == "stopped")
    wrapper.write_text(whole)

    assert ib("resume", "--all", "--force", "--json").json()["plan"][0]["how"] == "begin"

    until(lambda: state(ib, "w") == "complete")
    shown = [one for path in fake_claude.glob("projects/*/*") for one in hearing.heard(str(path))]
    assert sum(one.how == "prompt" and "Task" in one.text for one in shown) == 1


def history(repo: paths.Place, *states: str) -> None:
    for number, one in enumerate(states):
        kind = "agent.stopped" if one == "stopped" else "agent.state"
        event = {"kind": kind, "who": "w", "state": one, "reason": "input" if one == "waiting" else ""}
        logs.note(repo, "w", 100.0 + number, event)


@pytest.fixture
def gone(repo: paths.Place, tmux, agent, tmp_path: Path) -> Path:
    """An agent whose session was cut off; returns where its transcript would be."""
    home.enter(repo)
    tree = agent(repo, "w")
    known = {"session_id": "0" * 36, "client": os.environ["IB_CLAUDE"], "tmux_session": "ittybitty-x-w", "ended": None}
    agent_meta.change(repo, "w", **known, started=1.0, created_epoch=1, config_dir=str(tmp_path / "config"))
    path = Path(transcript.folder(str(tmp_path / "config"), os.path.realpath(tree)), "0" * 36 + ".jsonl")
    path.parent.mkdir(parents=True)
    return path


def judged(repo: paths.Place) -> resume_plan.Step | resume_plan.Left:
    return resume_all.again(repo, "w")


def test_a_task_that_was_answered_once_is_never_run_again(repo: paths.Place, gone: Path) -> None:
    assert getattr(judged(repo), "how", "") == "begin"
    history(repo, "running", "complete", "running", "stopped")

    assert "its task was done once" in getattr(judged(repo), "why", "")


def test_nobody_is_told_to_resume_what_has_no_worktree(repo: paths.Place, ib, gone: Path) -> None:
    history(repo, "running")
    session_end.note(repo, "w", 137)
    assert ib("list").err == "1 agent was cut off; ib resume --all\n"

    shutil.rmtree(repo.agent_dir("w") + "/repo")

    assert ib("list").err == ""


def test_a_conversation_that_went_on_in_another_session_was_begun(repo: paths.Place, gone: Path) -> None:
    """After /clear; the first one is gone, and so is the history."""
    (gone.parent / ("1" * 36 + ".jsonl")).write_text(entry(1, "The task"))

    assert "it had got its task" in getattr(judged(repo), "why", "")


def test_that_it_got_its_task_outlives_its_history_and_its_transcript(repo: paths.Place, gone: Path) -> None:
    gone.write_text(entry(1, "The task"))
    session_end.note(repo, "w", 137)
    gone.unlink()
    Path(repo.events).unlink(missing_ok=True)
    for spooled in Path(repo.spool).glob("*.jsonl"):
        spooled.unlink()

    assert "it had got its task" in getattr(judged(repo), "why", "")


@pytest.mark.parametrize(("after", "how"), [(-0.01, ""), (0.5, "go on")])
@pytest.mark.parametrize("is_lost", [False, True], ids=["", "history lost"])
def test_a_late_hook_completes_nothing(repo: paths.Place, gone: Path, after: float, how: str, is_lost: bool) -> None:
    """What it has said before its end counts, whenever that is read."""
    gone.write_text(entry(1, "The task"))
    history(repo, "running")
    (Path(repo.agent_dir("w"), "repo") / "left.txt").write_text("x")
    session_end.note(repo, "w", None)
    at = agent_meta.read(repo, "w")["ended"]["at"] + after
    hook_state.note(repo, "w", "s", "Stop", {"last_assistant_message": "I HAVE COMPLETED THE GOAL"}, at)
    if is_lost:
        for spooled in Path(repo.spool).glob("*.jsonl"):
            spooled.unlink()
        how = how and "wait"  # nothing is known of what it did

    found = judged(repo)
    assert getattr(found, "how", "") == how
    assert getattr(found, "why", "complete") == "complete"


@pytest.mark.parametrize(("after", "why"), [(-0.01, "logged out"), (0.5, "")])
def test_it_left_by_itself_if_it_said_so_before_its_end(repo: paths.Place, gone: Path, after: float, why: str) -> None:
    gone.write_text(entry(1, "The task"))
    history(repo, "running")
    session_end.note(repo, "w", None)
    hook_state.note(
        repo, "w", "s", "SessionEnd", {"reason": "logout"}, agent_meta.read(repo, "w")["ended"]["at"] + after
    )

    assert getattr(judged(repo), "why", "") == why


def test_the_end_is_not_older_than_the_last_word(repo: paths.Place, gone: Path) -> None:
    """Though the clock was set back meanwhile."""
    ahead = time.time() + 600
    hook_state.note(repo, "w", "s", "Stop", {"last_assistant_message": "I HAVE COMPLETED THE GOAL"}, ahead)
    session_end.note(repo, "w", None)

    assert agent_meta.read(repo, "w")["ended"]["at"] == ahead
    assert getattr(judged(repo), "why", "") == "complete"


def entry(second: int, text: str) -> str:
    at = f"1970-01-01T00:01:{second:02}.000Z"
    return json.dumps({"type": "user", "timestamp": at, "message": {"role": "user", "content": text}}) + "\n"


def test_who_was_interrupted_is_not_told_to_go_on(repo: paths.Place, gone: Path) -> None:
    history(repo, "running")  # at 01:40
    gone.write_text(entry(50, "[Request interrupted by user]"))
    assert getattr(judged(repo), "how", "") == "wait"

    gone.write_text(entry(50, "[Request interrupted by user]") + entry(55, "no: like this"))
    assert getattr(judged(repo), "how", "") == "go on"


def test_an_interruption_of_before_says_nothing_of_now(repo: paths.Place, gone: Path) -> None:
    history(repo, "running")
    gone.write_text(entry(20, "[Request interrupted by user]"))

    assert getattr(judged(repo), "how", "") == "go on"


@pytest.mark.parametrize(("since", "how"), [(101.0, "wait"), (99.0, "go on")])
def test_that_it_was_seen_interrupted_is_enough(repo: paths.Place, gone: Path, since: float, how: str) -> None:
    """One that had said nothing yet writes no word of it into its conversation."""
    gone.write_text(entry(1, "The task"))
    history(repo, "running")
    seen = Agent("w", "waiting", "1m", "", reason="input", since=since, note="interrupted")
    snapshot.write(repo, Snapshot(1, "1970-01-01T00:02:00Z", ibstatus.__version__, [seen], [], [], Wake([])))

    assert getattr(judged(repo), "how", "") == how


def test_who_is_held_by_the_limit_waits_for_its_end(repo: paths.Place, gone: Path) -> None:
    gone.write_text(entry(1, "The task"))
    history(repo, "running", "rate_limited", "stopped")
    until_ = time.time() + 3600
    episode_file.write(repo, episode_file.Record(park=Park(until_, 1.0)), durable=False)
    over = [Agent("w", "stopped", "1m", "", reason="was killed")]
    assert "held by the usage limit until" in getattr(judged(repo), "why", "")
    assert resume_all.cut_off(repo, over) == []

    episode_file.write(repo, episode_file.Record(park=Park(1.0, 1.0)), durable=False)
    assert getattr(judged(repo), "how", "") == "go on"
    assert resume_all.cut_off(repo, over) == ["w"]


def test_nor_is_one_counted_whose_limit_no_hook_told_of(repo: paths.Place, gone: Path) -> None:
    words = {"model": "<synthetic>", "content": [{"type": "text", "text": "You've hit your limit · resets 3pm (UTC)"}]}
    end = {"type": "assistant", "isApiErrorMessage": True, "error": "rate_limit", "message": words}
    gone.write_text(entry(1, "The task") + json.dumps({**end, "timestamp": "1970-01-01T00:01:50.000Z"}) + "\n")
    history(repo, "running", "stopped")
    episode_file.write(repo, episode_file.Record(park=Park(time.time() + 3600, 1.0)), durable=False)

    assert "held by the usage limit until" in getattr(judged(repo), "why", "")
    assert resume_all.cut_off(repo, [Agent("w", "stopped", "1m", "", reason="was killed")]) == []


def test_whoever_was_quicker_is_seen_right_before(repo: paths.Place, gone: Path) -> None:
    gone.write_text(entry(1, "The task"))
    history(repo, "running", "stopped")
    step = judged(repo)
    assert isinstance(step, resume_plan.Step)
    agent_meta.change(repo, "w", ended={"code": None, "at": 2.0, "why": "paused"})

    done = resume_all.carry_out(repo, resume_all.Plan([step], []), lambda text: None)

    assert [(one.id, one.why) for one in done.left] == [("w", "paused")]
    assert (done.resumed, done.failed) == ([], [])
