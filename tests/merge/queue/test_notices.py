"""The user's Claude is told what of the board waits for it: once, with the command to type, and after a kill too."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.board.port import Board
from ibstatus.mail import post as posting
from ibstatus.merge.queue import notices, resolve
from ibstatus.project import ids, paths
from tests.board.doing import BRANCH, RUN_OUT, add, claim_it, finish
from tests.conftest import Done, make_agent
from tests.gitwork import commit
from tests.queuework import drained, one, queue, side

pytestmark = pytest.mark.usefixtures("tmux")


def told(place: paths.Place) -> list[dict[str, str]]:
    path = Path(place.queue)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def conflict(place: paths.Place, board: Board) -> int:
    worktree = make_agent(place, "w")
    commit(worktree, "file.txt", "theirs\n")
    commit(place.root, "file.txt", "ours\n")
    return queue(place, board, "agent/w").id


def test_a_conflict_is_told_with_what_to_type(repo: paths.Place, board: Board) -> None:
    entry = conflict(repo, board)

    for _ in range(3):
        drained(repo, board)

    [line] = told(repo)
    assert (line["type"], line["from"]) == ("waiting", "w")
    assert line["id"].startswith("n-")
    assert line["msg"] == (
        "Merge queue: agent/w (task agent-w-0, agent w) conflicts with main in file.txt; ib send w 'Your work "
        "conflicts with main in file.txt. Merge or rebase onto main, keep what both sides need, commit'; when it has: "
        f"ib board merge resolve {entry}"
    )


def test_each_outcome_is_told_once(repo: paths.Place, board: Board) -> None:
    side(repo, "a", "a.txt", "a")
    entry = queue(repo, board, "a", test="echo no; exit 3").id
    one(repo, board)
    resolve.retry(repo, board, entry)
    one(repo, board)

    first, second = told(repo)

    assert first["id"] != second["id"]
    assert first["msg"] == second["msg"]
    assert (first["from"], "ib board merge retry 1, or give it up: ib board merge abandon 1" in first["msg"]) == (
        "system",
        True,
    )
    assert "exit 3" in first["msg"]


def test_what_is_settled_by_then_is_not_told(repo: paths.Place, board: Board) -> None:
    side(repo, "a", "a.txt", "a")
    given_up, again = queue(repo, board, "a"), queue(repo, board, "a")
    for entry in (given_up, again):
        board.merging(entry.id)
        board.conflicted(entry.id, ["a.txt"], "conflict")
    board.abandon(given_up.id, "no")
    board.requeue(again.id)

    drained(repo, board)

    assert told(repo) == []


def test_other_repositories_hear_of_their_own(repo: paths.Place, board: Board) -> None:
    add(board, "t")

    finish(board, "t", BRANCH)
    [entry] = board.entries()
    board.merging(entry.id)
    board.merge_failed(entry.id, "no")

    drained(repo, board)

    assert told(repo) == []


@pytest.mark.parametrize("written", [True, False])
def test_after_a_kill_it_is_told_once(
    repo: paths.Place, board: Board, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    """The merger dies right before, or right after, the line is written."""
    conflict(repo, board)
    real = posting.post

    def dying(*args: object) -> None:
        if written:
            real(*args)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(posting, "post", dying)
    with pytest.raises(KeyboardInterrupt):
        drained(repo, board)
    monkeypatch.undo()
    before = len(told(repo))

    for _ in range(2):
        drained(repo, board)

    assert (before, len(told(repo))) == (written, 1)


def test_a_task_that_is_given_up_is_told_where_its_agent_is(repo: paths.Place, board: Board) -> None:
    make_agent(repo, "w")
    for id, agent in (("ours", "w"), ("theirs", "x")):
        add(board, id, max_attempts=1)
        board.fail(claim_it(board, id, agent), "the tests\nneed a database")
    add(board, "silent", max_attempts=1)
    claim_it(board, "silent", "w", RUN_OUT)

    drained(repo, board)

    assert [line["msg"] for line in told(repo)] == [
        "Board: task ours has failed at its only attempt: the tests; ib board show ours, then: ib board retry ours",
        "Board: task silent has failed at its only attempt: no sign of life: the lease ran out; "
        "ib board show silent, then: ib board retry silent",
    ]


def test_a_queue_that_cannot_be_written_stops_no_merge(repo: paths.Place, board: Board) -> None:
    conflict(repo, board)
    side(repo, "a", "a.txt", "a")
    queue(repo, board, "a")
    Path(repo.home, "notify").mkdir(exist_ok=True)
    Path(repo.home, "notify/board.json").mkdir()

    done, said = drained(repo, board)

    assert [entry.status for entry in done] == ["conflict", "merged"]
    assert any("could not be told" in line for line in said)
    Path(repo.home, "notify/board.json").rmdir()
    drained(repo, board)
    assert len(told(repo)) == 1


def test_it_wakes_whoever_listens(repo: paths.Place, board: Board, ib: Callable[..., Done]) -> None:
    conflict(repo, board)

    done = ib("board", "merge")

    assert done.code == 1
    assert "ib board merge resolve 1" in ib("listen", "--timeout", "0").out
    assert ids.take(repo, "n", "w", 0) != told(repo)[0]["id"]
    notices.tell(repo, board, print)
    assert len(told(repo)) == 1
