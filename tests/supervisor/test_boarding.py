"""What agents do reaches the board: their tasks are kept while they live, and done when they are."""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench import start
from ibstatus.agents.rules import resume_plan
from ibstatus.board import holdings
from ibstatus.board.port import Board
from ibstatus.merge.rules import queue
from ibstatus.model.board import Fence
from ibstatus.model.fleet import Agent
from ibstatus.project import agent_meta, home, paths, supervisor_process
from ibstatus.system import timestamps
from tests.board.doing import RUN_OUT, add, claim_it, known, since, status
from tests.conftest import Done, git, make_agent
from tests.gitwork import commit
from tests.queuework import opened
from tests.supervisor.boarded import SAID, Watched, agent, letters, run_out, taken
from tests.supervisor.test_caring import Turned
from tests.until import until


@pytest.fixture
def board(repo: paths.Place) -> Iterator[Board]:
    found = opened(repo)
    yield found
    found.close()


@pytest.fixture
def watched(repo: paths.Place, board: Board) -> Watched:
    return Watched(repo)


def test_where_nobody_has_a_task_nothing_is_opened(repo: paths.Place) -> None:
    home.enter(repo)
    make_agent(repo, "w")
    watched = Watched(repo)

    assert watched.look(agent("complete", said=SAID)) is None
    assert not Path(repo.board).exists()


def test_a_complete_agent_hands_in_its_branch_and_its_words(repo: paths.Place, board: Board, watched: Watched) -> None:
    worktree = taken(repo, board, test="make check")
    tip = commit(worktree, "auth.txt", "token\n")

    watched.look(agent("running"))
    assert status(board, "it") == "claimed"
    watched.look(agent("complete", said=SAID))

    task = known(board, "it")
    assert (task.status, task.done_by, task.summary) == ("done", "w", "JWT with refresh tokens.")
    [entry] = board.entries()
    assert (entry.branch, entry.base, entry.sha, entry.test, entry.agent_id) == (
        "agent/w",
        "main",
        tip,
        "make check",
        "w",
    )
    assert "w is complete: task it is done; agent/w is queued for main" in watched.said()
    assert watched.look(agent("complete", said=SAID), after=1000) is None


def test_without_commits_nothing_is_queued(repo: paths.Place, board: Board, watched: Watched) -> None:
    taken(repo, board)

    watched.look(agent("complete", said=SAID))

    assert (status(board, "it"), board.entries()) == ("done", [])


@pytest.mark.parametrize("committed", [True, False])
def test_what_is_not_committed_is_named(repo: paths.Place, board: Board, watched: Watched, committed: bool) -> None:
    worktree = taken(repo, board)
    if committed:
        commit(worktree, "auth.txt", "token\n")
    (worktree / "half.txt").write_text("half")

    watched.look(agent("complete", said=SAID))

    assert known(board, "it").summary.endswith("\nLeft behind in its worktree: 1 uncommitted file (half.txt)")
    assert len(board.entries()) == committed


def test_a_living_or_paused_agent_keeps_its_task(repo: paths.Place, board: Board, watched: Watched) -> None:
    taken(repo, board)
    for one in (agent("running"), agent("waiting", "permission"), agent("stopped", resume_plan.PAUSED)):
        run_out(board)
        watched.look(one, after=queue.BEAT)
        assert status(board, "it") == "claimed", one
        assert board.sweep() == []


def test_of_a_crashed_one_the_lease_runs_out(repo: paths.Place, board: Board, watched: Watched) -> None:
    taken(repo, board)
    board.beat(Fence("it", "w", 1), RUN_OUT)

    watched.look(agent("stopped", "ended with exit code 1"))

    task = known(board, "it")
    assert (task.status, task.attempt) == ("ready", 1)
    assert "The lease of task it has run out" in watched.said()


def test_what_it_says_too_late_changes_nothing(repo: paths.Place, board: Board, watched: Watched) -> None:
    commit(taken(repo, board), "auth.txt", "token\n")
    board.take_back("it", "too slow")
    claim_it(board, "it", "other")

    watched.look(agent("running"))
    watched.look(agent("complete", said=SAID))

    assert (known(board, "it").claimed_by, board.entries()) == ("other", [])


def test_one_that_said_it_itself_is_not_done_twice(repo: paths.Place, board: Board, watched: Watched) -> None:
    commit(taken(repo, board), "auth.txt", "token\n")
    board.done([Fence("it", "w", 1)], "by myself")

    watched.look(agent("complete", said=SAID))

    assert (known(board, "it").summary, board.entries()) == ("by myself", [])


def test_a_supervisor_that_begins_anew_finishes_it_once(repo: paths.Place, board: Board, watched: Watched) -> None:
    commit(taken(repo, board), "auth.txt", "token\n")
    watched.look(agent("running"))
    for _ in range(3):
        watched.begin()
        watched.look(agent("complete", said=SAID))

    assert [event.channel for event in since(board, 0)].count("task_done") == 1
    assert len(board.entries()) == 1


def test_a_board_that_is_gone_is_tried_again(repo: paths.Place, board: Board, watched: Watched) -> None:
    commit(taken(repo, board), "auth.txt", "token\n")
    board.close()
    os.rename(repo.board, repo.board + ".away")
    os.mkdir(repo.board)
    again = watched.look(agent("complete", said=SAID))
    assert again is not None
    assert watched.said().count("finish it: ") == 1
    watched.look(agent("complete", said=SAID), after=queue.AGAIN)
    assert watched.said().count("finish it: ") == 1, "the same complaint once"
    shutil.rmtree(repo.board)
    os.rename(repo.board + ".away", repo.board)

    watched.look(agent("complete", said=SAID), after=queue.AGAIN)

    back = opened(repo)
    assert (status(back, "it"), len(back.entries())) == ("done", 1)
    back.close()


def test_a_task_that_is_not_on_the_board_keeps_no_other_from_being_kept(
    repo: paths.Place, board: Board, watched: Watched
) -> None:
    """The board was made anew under an agent that is still at work."""
    make_agent(repo, "a")
    agent_meta.change(repo, "a", base="main", task={"id": "gone", "attempt": 1})
    taken(repo, board)
    run_out(board)

    watched.look(Agent("a", "running", "1m", "task", created=1.0), agent("running"), after=queue.BEAT)

    assert known(board, "it").lease_until > timestamps.utc(time.time() + holdings.LEASE / 2)
    assert watched.said() == ""


def test_a_task_of_another_board_is_left_alone(
    repo: paths.Place, board: Board, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its agent was spawned where IB_BOARD_DSN was set; the supervisor was not."""
    taken(repo, board)
    monkeypatch.setenv("IB_BOARD_DSN", "postgresql://u:hunter2@127.0.0.1:1/x")
    for _ in range(3):
        watched.look(agent("complete", said=SAID), after=1000)

    assert watched.said().count("the task of w is on another board") == 1
    assert "hunter2" not in watched.said()
    monkeypatch.delenv("IB_BOARD_DSN")
    watched.look(agent("complete", said=SAID), after=1000)
    assert status(board, "it") == "done"


def test_a_supervisor_with_another_dsn_makes_room(
    repo: paths.Place, ib: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was begun where IB_BOARD_DSN was not set; a task is taken where it is."""
    try:
        ib("send", "user-claude", "? hello", env={"IB_SUPERVISOR": ""})
        until(lambda: supervisor_process.holder(repo) is not None)
        first = supervisor_process.holder(repo)
        holdings.watch_here(repo)
        assert supervisor_process.holder(repo) == first

        monkeypatch.setenv("IB_BOARD_DSN", "postgresql://127.0.0.1:1/x")
        holdings.watch_here(repo)

        assert not supervisor_process.is_running(repo)
        until(
            lambda: ib("send", "user-claude", "hm", env={"IB_SUPERVISOR": ""}) and supervisor_process.is_running(repo)
        )
        until(lambda: supervisor_process.holder(repo) not in (None, first))  # it holds the lock first, and signs then
        second = supervisor_process.holder(repo)
        assert second is not None
        assert second.environ()["IB_BOARD_DSN"] == "postgresql://127.0.0.1:1/x"
    finally:
        start.end(repo)


def test_the_whole_way(
    repo: paths.Place,
    board: Board,
    fake_claude: Path,
    ib: Callable[..., Done],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Put down, taken, worked on, done, merged; the agent is closed and what waited becomes ready."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    monkeypatch.setenv("FAKE_CLAUDE_SCRIPT", str(scripts))
    add(board, "w1", title="Auth")
    add(board, "next", after=("w1",))
    (scripts / "w1").write_text("write auth.txt token\\n\ncommit Auth\nfinish JWT with refresh tokens\n")
    assert ib("new-agent", "--task", "w1", "--yolo").out == "w1\n"

    turned = Turned(repo)
    until(lambda: turned.look() and status(board, "w1") == "done", 60)

    assert known(board, "w1").summary == "JWT with refresh tokens"
    assert status(board, "next") == "pending"
    refused = ib("merge", "w1", "--force")
    assert (refused.code, refused.out) == (1, "")
    assert "The merge queue has the branch of w1" in refused.err
    merged = json.loads(ib("board", "merge", "--json").out)
    assert [(one["status"], one["task_id"]) for one in merged] == [("merged", "w1")]
    assert Path(repo.root, "auth.txt").read_text().strip() == "token"
    assert not Path(repo.agent_dir("w1")).exists()
    assert git(repo.root, "branch", "--list", "agent/*") == ""
    assert status(board, "next") == "ready"


def test_an_agent_whose_task_was_taken_back_is_told_once(repo: paths.Place, board: Board, watched: Watched) -> None:
    taken(repo, board)
    watched.look(agent("running"))
    board.take_back("it", "somebody else shall do it")

    for _ in range(3):
        watched.look(agent("running"), after=queue.BEAT)

    [letter] = letters(repo)
    assert letter.startswith("[ib] The task it is not yours any more: it is ready. Stop working on it")


def test_an_agent_that_ended_its_task_itself_is_told_nothing(repo: paths.Place, board: Board, watched: Watched) -> None:
    taken(repo, board)
    watched.look(agent("running"))
    fence = holdings.fence_of(repo, "w")
    assert fence is not None
    board.done([fence], "by hand")

    watched.look(agent("running"), after=queue.BEAT)

    assert letters(repo) == []
