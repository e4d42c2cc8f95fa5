"""new-agent --task, and what becomes of the task when its agent goes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ibstatus.board.port import Board
from ibstatus.claude import hook_events
from ibstatus.project import paths
from tests import killed
from tests.agents.test_spawn import everything, held_checkout
from tests.board.doing import add, claim_it, finish, known, since, status
from tests.conftest import Done, git, run_ib
from tests.gitwork import commit
from tests.sweeps import spread
from tests.until import until

Ib = Callable[..., Done]


@pytest.fixture(autouse=True)
def client(tmp_path: Path, tmux: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A client that is there and does nothing."""
    path = tmp_path / "client"
    path.write_text("#!/bin/sh\nexec sleep 600\n")
    path.chmod(0o755)
    monkeypatch.setenv("IB_CLAUDE", str(path))
    return path


def meta(place: paths.Place, agent: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(Path(place.agent_dir(agent), "meta.json").read_text())
    return found


def test_it_is_called_like_its_task_holds_it_and_is_told_of_it(repo: paths.Place, board: Board, ib: Ib) -> None:
    add(board, "before")
    finish(board, "before")
    add(board, "it", title="Write the tests", body="All of them.", after=("before",), test="make check")
    board.note("before", "ann", "handoff", "mind the gap")

    done = ib("new-agent", "--task", "it", "Be", "quick")

    assert (done.code, done.out) == (0, "it\n")
    task = known(board, "it")
    assert (task.status, task.claimed_by, task.attempt) == ("claimed", "it", 1)
    found = meta(repo, "it")["task"]
    assert isinstance(found, dict)
    assert (found["id"], found["attempt"]) == ("it", 1)
    prompt = Path(repo.agent_dir("it"), "prompt.txt").read_text()
    for words in ("All of them.", "mind the gap", "make check", hook_events.COMPLETE_PHRASE, "\nBe quick\n"):
        assert words in prompt
    assert ib("list", "--json").json()[0]["prompt"] == "Write the tests"  # type: ignore[index]
    assert "Write the tests" in ib("list").out


def test_its_name_can_be_chosen_and_later_attempts_are_numbered(repo: paths.Place, board: Board, ib: Ib) -> None:
    add(board, "it")
    assert ib("new-agent", "--task", "it", "--name", "mine").out == "mine\n"
    assert ib("kill", "mine", "--force").code == 0
    board.fail(claim_it(board, "it"), "no")

    assert ib("new-agent", "--task", "it").out == "it-3\n"
    assert known(board, "it").claimed_by == "it-3"


@pytest.mark.parametrize("state", ["pending", "draft", "claimed", "done", "unknown", "unclear"])
def test_what_cannot_be_taken_makes_nothing(repo: paths.Place, board: Board, ib: Ib, state: str) -> None:
    add(board, "first")
    add(board, "it", after=("first",) if state == "pending" else (), draft=state == "draft")
    add(board, "item")
    if state in ("claimed", "done"):
        claim_it(board, "it", "me") if state == "claimed" else finish(board, "it")
    before, seq = everything(repo), board.last_seq()

    done = ib("new-agent", "--task", {"unknown": "nobody", "unclear": "i"}.get(state, "it"))

    assert (done.code, done.out) == (1, "")
    assert "Hint: " in done.err
    assert everything(repo) == before
    assert board.last_seq() == seq


def test_one_of_two_gets_it_and_nothing_is_left_of_the_other(repo: paths.Place, board: Board) -> None:
    """Under different names both come as far as the claim."""
    add(board, "it")

    with ThreadPoolExecutor(3) as pool:
        names = ("a", "b", "c")
        ended = list(pool.map(lambda name: run_ib("new-agent", "--task", "it", "--name", name, cwd=repo.root), names))

    won = [done.out.strip() for done in ended if done.code == 0]
    assert len(won) == 1, ended
    assert known(board, "it").claimed_by == won[0]
    assert os.listdir(repo.home + "/agents") == won
    assert git(repo.root, "branch", "--list", "agent/*").split() == ["+", f"agent/{won[0]}"]
    assert [event.channel for event in since(board, 0)] == ["task_ready", "task_claimed"]


def test_a_spawn_that_fails_gives_it_back(repo: paths.Place, board: Board, ib: Ib) -> None:
    add(board, "it")
    hook = Path(repo.root, ".git/hooks/post-checkout")
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    before = everything(repo)

    assert ib("new-agent", "--task", "it").code == 1

    task = known(board, "it")
    assert (task.status, task.max_attempts - task.attempt, task.reason) == (
        "ready",
        3,
        "its agent could not be started",
    )
    assert everything(repo) == before


def test_a_spawn_that_is_told_to_end_gives_it_back(repo: paths.Place, board: Board, tmp_path: Path) -> None:
    add(board, "it")
    there, go = held_checkout(repo, tmp_path)
    argv = [sys.executable, "-m", "ibstatus", "new-agent", "--task", "it"]
    spawn = subprocess.Popen(argv, cwd=repo.root, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    until(there.exists)
    spawn.send_signal(signal.SIGTERM)
    out, _ = spawn.communicate()
    go.touch()

    assert (spawn.returncode, out) == (130, "")
    assert status(board, "it") == "ready"


@pytest.mark.sweep
@pytest.mark.parametrize("at", spread(range(4, 64, 4), 5))
def test_killed_anywhere_it_is_the_agents_or_comes_back(repo: paths.Place, board: Board, ib: Ib, at: int) -> None:
    """What is still held by an agent that was taken back is left to its lease."""
    add(board, "it")

    killed.run_ib(at, "new-agent", "--task", "it", cwd=repo.root)
    assert ib("list", "--json").code == 0

    task = known(board, "it")
    if Path(repo.agent_dir("it")).exists():
        assert (task.status, task.claimed_by) == ("claimed", "it")
    else:
        assert task.status == "ready" or task.claimed_by == "it"
        assert ib("new-agent", "--name", "other", "x").code == 0


def test_of_an_agent_that_is_removed_it_is_released(repo: paths.Place, board: Board, ib: Ib) -> None:
    for id in ("one", "two"):
        add(board, id)
        assert ib("new-agent", "--task", id).code == 0

    done = ib("kill", "one", "--force")
    assert "The task one is ready again" in done.err
    assert ib("nuke", "--force").code == 0

    for id in ("one", "two"):
        task = known(board, id)
        assert (task.status, task.attempt, task.max_attempts, task.reason) == ("ready", 1, 4, "its agent was removed")


def test_of_an_agent_that_was_merged_by_hand_it_is_done(repo: paths.Place, board: Board, ib: Ib) -> None:
    add(board, "it")
    add(board, "next", after=("it",))
    ib("new-agent", "--task", "it")
    commit(Path(repo.agent_dir("it"), "repo"), "new.txt", "new\n")

    done = ib("merge", "it", "--force")

    assert done.code == 0, done.err
    assert "The task it is done" in done.err
    assert (known(board, "it").summary, status(board, "next")) == ("merged by hand", "ready")


def test_what_is_somebody_elses_by_now_stays_theirs(repo: paths.Place, board: Board, ib: Ib) -> None:
    add(board, "it")
    ib("new-agent", "--task", "it")
    board.take_back("it", "too slow")
    claim_it(board, "it", "other")

    assert ib("kill", "it", "--force").code == 0

    assert known(board, "it").claimed_by == "other"


def test_paused_and_resumed_it_keeps_it(repo: paths.Place, board: Board, ib: Ib) -> None:
    add(board, "it")
    ib("new-agent", "--task", "it")

    assert ib("pause", "it").code == 0
    assert status(board, "it") == "claimed"
    assert ib("resume", "it").code == 0
    assert known(board, "it").claimed_by == "it"


def test_without_a_server_nothing_is_made_and_removal_goes_on(repo: paths.Place, board: Board, ib: Ib) -> None:
    gone = {"IB_BOARD_DSN": "postgresql://u:hunter2@127.0.0.1:1/x"}
    add(board, "it")
    before = everything(repo)
    done = ib("new-agent", "--task", "it", env=gone)
    assert (done.code, everything(repo)) == (1, before)
    assert "hunter2" not in done.err
    ib("new-agent", "--task", "it")

    done = ib("kill", "it", "--force", env=gone)

    assert done.code == 0
    assert "Its task stays claimed for a while: The board's PostgreSQL" in done.err
    assert "hunter2" not in done.err
    assert not Path(repo.agent_dir("it")).exists()


def test_a_place_of_an_agent_without_a_task_costs_nothing(repo: paths.Place, ib: Ib) -> None:
    assert ib("new-agent", "--name", "w", "x").code == 0
    assert ib("kill", "w", "--force").code == 0
    assert not Path(repo.board).exists()
