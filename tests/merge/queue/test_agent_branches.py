"""The branch of an agent in the merge queue: the agent is closed with it, undo brings it back, nobody merges beside."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.agents import kill
from ibstatus.agents.undo import undo
from ibstatus.board import queued_branch
from ibstatus.board.port import Board
from ibstatus.errors import IbError
from ibstatus.merge import merge
from ibstatus.merge.queue import resolve
from ibstatus.project import agents, identity, operations, paths
from ibstatus.project.rules import counts
from tests.board import doing
from tests.conftest import Done, git
from tests.gitwork import commit, parents, state, tip
from tests.queuework import drained, one, queue

pytestmark = pytest.mark.usefixtures("tmux")
Agent = Callable[..., Path]
USER = identity.Caller(identity.PERSON, "user")


def test_the_agent_is_closed_and_undo_brings_all_of_it_back(repo: paths.Place, board: Board, agent: Agent) -> None:
    work, before = commit(agent(repo, "w"), "new.txt", "new\n"), tip(repo.root)
    entry = queue(repo, board, "agent/w")

    ((done,), said) = drained(repo, board)

    assert (done.status, done.merge_sha) == ("merged", tip(repo.root))
    assert parents(repo.root) == [before, work]
    assert f"Task: {entry.task_id}" in git(repo.root, "log", "-1", "--format=%B")
    assert not agents.exists(repo, "w")
    assert git(repo.root, "branch", "--list", "agent/w") == ""
    assert "Agent merged into main (1 commit)" in said

    [record] = undo.undo(repo, "", lambda text: None)
    assert (record.agent, record.kind, record.by) == ("w", "merge", "board")
    assert tip(repo.root) == before
    assert tip(repo.root, "agent/w") == work
    assert agents.exists(repo, "w")


def test_what_is_not_committed_fails_and_says_which_files(repo: paths.Place, board: Board, agent: Agent) -> None:
    worker = agent(repo, "w")
    commit(worker, "new.txt", "new\n")
    (worker / "file.txt").write_text("half\n")
    queue(repo, board, "agent/w")
    before = state(repo.root)

    failed = one(repo, board)

    assert (failed.status, failed.reason) == ("failed", "w has 1 uncommitted file (file.txt)")
    assert state(repo.root) == before
    commit(worker, "file.txt", "whole\n")
    resolve.retry(repo, board, failed.id)
    assert one(repo, board).status == "merged"
    assert Path(repo.root, "file.txt").read_text() == "whole\n"


def test_an_agent_that_has_another_task_stays_with_what_it_does_there(
    repo: paths.Place, board: Board, agent: Agent
) -> None:
    worker = agent(repo, "w")
    work = commit(worker, "new.txt", "new\n")
    queue(repo, board, "agent/w")
    doing.add(board, "next")
    doing.claim_it(board, "next", agent="w")
    commit(worker, "next.txt", "half of the next\n")
    (worker / "file.txt").write_text("not yet committed\n")

    entry = one(repo, board)

    assert (entry.status, entry.sha) == ("merged", work)
    assert agents.exists(repo, "w")
    assert not Path(repo.root, "next.txt").exists()
    assert (worker / "file.txt").read_text() == "not yet committed\n"


def test_two_entries_of_one_branch_close_the_agent_once(repo: paths.Place, board: Board, agent: Agent) -> None:
    worker = agent(repo, "w")
    commit(worker, "one.txt", "one\n")
    queue(repo, board, "agent/w")
    commit(worker, "two.txt", "two\n")
    queue(repo, board, "agent/w")

    done, _ = drained(repo, board)

    assert [entry.status for entry in done] == ["merged", "merged"]
    assert not agents.exists(repo, "w")
    assert Path(repo.root, "two.txt").exists()


def test_a_commit_while_it_is_stopped_is_not_lost(repo: paths.Place, board: Board, agent: Agent, monkeypatch) -> None:
    worker = agent(repo, "w")
    commit(worker, "new.txt", "new\n")
    queue(repo, board, "agent/w")
    late = iter(["late.txt"])
    monkeypatch.setattr("ibstatus.agents.session.stop", lambda *args: [commit(worker, name, "late\n") for name in late])

    waiting = one(repo, board)

    assert (waiting.status, waiting.reason) == ("pending", "w has committed meanwhile")
    assert list(operations.unfinished(repo)) == []
    assert one(repo, board).status == "merged"
    assert Path(repo.root, "late.txt").exists()


def test_the_managers_branch_is_a_base_as_any_other(repo: paths.Place, board: Board, agent: Agent) -> None:
    lead = agent(repo, "lead")
    commit(agent(repo, "w", "lead"), "new.txt", "new\n")
    (lead / "file.txt").write_text("the manager is at it\n")
    queue(repo, board, "agent/w", "agent/lead")

    assert one(repo, board).status == "pending"

    git(lead, "checkout", "-q", "file.txt")
    assert one(repo, board).status == "merged"
    assert (lead / "new.txt").exists()
    assert agents.exists(repo, "lead")


def test_a_test_that_fails_leaves_the_agent_running_where_it_was(repo: paths.Place, board: Board, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    queue(repo, board, "agent/w", test="exit 3")

    assert one(repo, board).status == "failed"

    assert agents.exists(repo, "w")
    assert list(operations.unfinished(repo)) == []


def test_nobody_merges_beside_the_queue(repo: paths.Place, board: Board, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    entry = queue(repo, board, "agent/w")
    wish = merge.Wish("w", cwd=repo.root)

    with pytest.raises(IbError, match=f"The merge queue has the branch of w: entry {entry.id}, pending") as refused:
        merge.merge(repo, USER, wish, lambda lines: True, print)
    assert f"ib board merge abandon {entry.id}" in refused.value.hint
    with pytest.raises(IbError, match="The merge queue has"):
        merge.check(repo, USER, wish)

    resolve.abandon(board, entry.id, "by hand")
    assert queued_branch.owner(repo, "w") is None
    assert merge.merge(repo, USER, wish, lambda lines: True, lambda text: None)


def test_a_kill_says_that_the_queue_waits_for_it(repo: paths.Place, board: Board, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    agent(repo, "other")
    entry = queue(repo, board, "agent/w")

    mine, other = kill.losses(repo, ["w", "other"])

    assert f"a branch that the merge queue has not merged yet (entry {entry.id})" in counts.line(mine)
    assert counts.line(other) == "other: nothing unsaved"


def test_a_board_that_cannot_be_read_keeps_nobody_from_working(
    repo: paths.Place, board: Board, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody merges the queue of one that is damaged, or of which the address is none."""
    commit(agent(repo, "w"), "new.txt", "new\n")
    queue(repo, board, "agent/w")
    board.close()
    Path(repo.board).write_bytes(b"no board" * 1000)
    for end in ("-wal", "-shm"):
        Path(repo.board + end).unlink(missing_ok=True)

    (lost,) = kill.losses(repo, ["w"])
    assert counts.line(lost).startswith("w: ")
    monkeypatch.setenv("IB_BOARD_DSN", "postgresql://[")
    assert merge.check(repo, USER, merge.Wish("w", cwd=repo.root)).agent == "w"


def test_a_branch_that_only_ends_like_an_agent_is_nobodys(repo: paths.Place, board: Board, agent: Agent) -> None:
    agent(repo, "w")
    git(repo.root, "branch", "w")
    queue(repo, board, "w")

    assert queued_branch.owner(repo, "w") is None


def test_without_a_board_nothing_of_one_is_loaded(ib: Callable[..., Done], repo: paths.Place, agent: Agent) -> None:
    agent(repo, "w")
    program = (
        "import sys; from ibstatus.project import paths as places; from ibstatus.board import queued_branch as owner; "
        "owner.queued(places.here()); print([name for name in sys.modules if 'sqlite' in name or 'board.po' in name])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=repo.root, capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
    assert ib("merge-check", "w").code == 0
