"""Every row of the table `The merge queue` in docs/board.md, and what is refused."""

from collections.abc import Callable

import pytest

from ibstatus.board.port import Board
from ibstatus.errors import IbError
from ibstatus.model.board import Branch, Entry
from tests.board.doing import BRANCH, add, finish, status, told


def known(board: Board, id: int = 1) -> Entry:
    entry = board.entry(id)
    assert entry is not None
    return entry


def queued(board: Board) -> None:
    add(board, "t")
    finish(board, "t", BRANCH)


def merging(board: Board) -> None:
    queued(board)
    board.merging(1)


def merged(board: Board) -> None:
    merging(board)
    board.merged(1, "f" * 40)


def in_conflict(board: Board) -> None:
    merging(board)
    board.conflicted(1, ["a.py", "b c.py"], "both changed it")


def failed(board: Board) -> None:
    merging(board)
    board.merge_failed(1, "the test failed", {"code": 2})


def abandoned(board: Board) -> None:
    queued(board)
    board.abandon(1, "no")


STATES: dict[str, Callable[[Board], None]] = {
    "pending": queued,
    "merging": merging,
    "merged": merged,
    "conflict": in_conflict,
    "failed": failed,
    "abandoned": abandoned,
}
VERBS: dict[str, Callable[[Board], object]] = {
    "merging": lambda board: board.merging(1),
    "intend": lambda board: board.intend(1, "e" * 40, None),
    "merged": lambda board: board.merged(1, "f" * 40),
    "conflicted": lambda board: board.conflicted(1, ["x"], "y"),
    "merge_failed": lambda board: board.merge_failed(1, "y"),
    "requeue": lambda board: board.requeue(1, reason="again"),
    "abandon": lambda board: board.abandon(1, "no"),
    "enqueue": lambda board: board.enqueue("t", "bob", BRANCH),
}
MOVES = {
    "pending": {"merging": "merging", "requeue": "pending", "abandon": "abandoned"},
    "merging": {
        "intend": "merging",
        "merging": "merging",
        "merged": "merged",
        "conflicted": "conflict",
        "merge_failed": "failed",
        "requeue": "pending",
    },
    "merged": {"merging": "merged", "enqueue": "merged"},
    "conflict": {"merging": "conflict", "requeue": "pending", "abandon": "abandoned"},
    "failed": {"merging": "failed", "requeue": "pending", "abandon": "abandoned"},
    "abandoned": {"merging": "abandoned", "requeue": "pending", "abandon": "abandoned", "enqueue": "abandoned"},
}


def state(entry: Entry) -> str:
    return "abandoned" if entry.abandoned else entry.status


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("before", STATES)
def test_from_each_state_each_verb_leads_where_it_may_or_nowhere(board: Board, before: str, verb: str) -> None:
    STATES[before](board)
    entry, seq = known(board), board.last_seq()
    assert state(entry) == before

    if verb in MOVES[before]:
        VERBS[verb](board)
        assert state(known(board)) == MOVES[before][verb]
    else:
        with pytest.raises(IbError):
            VERBS[verb](board)
        assert (known(board), board.last_seq()) == (entry, seq)


def test_one_merger_takes_it(board: Board) -> None:
    queued(board)

    first, second = board.merging(1), board.merging(1)

    assert first is not None
    assert (first.status, second) == ("merging", None)
    assert first.started_at


def test_what_is_queued_is_all_there(board: Board) -> None:
    add(board, "t", project_id="p")
    branch = Branch("repo|x", "agent/ä b", "main", "1" * 40, "make 'check'", True)

    finish(board, "t", branch)

    entry = known(board)
    assert (entry.repo, entry.branch, entry.base, entry.sha, entry.test, entry.linear) == tuple(
        getattr(branch, field) for field in branch.__struct_fields__
    )
    assert (entry.task_id, entry.project_id, entry.agent_id, entry.status) == ("t", "p", "ann", "pending")
    assert (entry.merge_sha, entry.conflict_files, entry.receipt, entry.abandoned) == (None, [], None, False)
    assert entry.enqueued_at.endswith("Z")


def test_what_the_base_is_about_to_become_is_written_first(board: Board) -> None:
    merging(board)

    board.intend(1, "e" * 40, {"code": 0, "command": "make check"})

    entry = known(board)
    assert (entry.status, entry.merge_sha, entry.receipt) == ("merging", "e" * 40, {"code": 0, "command": "make check"})
    assert board.merged(1, "e" * 40).receipt == {"code": 0, "command": "make check"}


def test_a_conflict_names_files_and_a_new_try_forgets_them(board: Board) -> None:
    in_conflict(board)
    entry = known(board)
    assert (entry.conflict_files, entry.reason) == (["a.py", "b c.py"], "both changed it")
    assert entry.completed_at

    again = board.requeue(1, "9" * 40, "resolved")

    assert (again.status, again.sha, again.conflict_files, again.merge_sha) == ("pending", "9" * 40, [], None)
    assert (again.started_at, again.completed_at, again.reason) == (None, None, "resolved")
    assert board.requeue(1).sha == "9" * 40, "without a new tip it keeps the one it has"


def test_a_failed_test_keeps_its_receipt(board: Board) -> None:
    failed(board)

    assert (known(board).receipt, known(board).reason) == ({"code": 2}, "the test failed")
    assert board.requeue(1).receipt == {"code": 2}
    assert (taken := board.merging(1)) is not None
    assert taken.receipt == {"code": 2}, "the merger judges what it is worth"


def test_one_open_branch_a_task(board: Board) -> None:
    queued(board)
    with pytest.raises(IbError, match="already"):
        board.enqueue("t", "bob", BRANCH)
    board.abandon(1, "no")
    board.enqueue("t", "bob", BRANCH)

    with pytest.raises(IbError, match="already"):
        board.requeue(1)

    assert [(entry.agent_id, state(entry)) for entry in board.entries()] == [("ann", "abandoned"), ("bob", "pending")]


def test_only_what_is_done_has_a_branch_to_merge(board: Board) -> None:
    add(board, "t")

    with pytest.raises(IbError):
        board.enqueue("t", "ann", BRANCH)
    with pytest.raises(IbError):
        board.enqueue("nobody", "ann", BRANCH)

    assert board.entries() == []


def test_entries_are_listed_by_repository_and_whether_they_are_open(board: Board) -> None:
    for number, id in enumerate("abc"):
        add(board, id)
        finish(board, id, Branch(f"repo-{number % 2}", f"agent/{id}", "main", "1" * 40))
    board.merging(1)
    board.merged(1, "f" * 40)
    board.abandon(2, "no")

    assert [entry.id for entry in board.entries()] == [1, 2, 3]
    assert [entry.id for entry in board.entries("repo-0")] == [1, 3]
    assert [entry.id for entry in board.entries("repo-0", open_only=True)] == [3]
    assert [entry.id for entry in board.entries(open_only=True)] == [3]
    assert board.entries("nowhere") == []


def test_what_nobody_queued_is_refused(board: Board) -> None:
    assert board.entry(1) is board.entry(-1) is board.entry(10**30) is None
    with pytest.raises(IbError):
        board.merging(10**30)
    for name, verb in VERBS.items():
        if name != "enqueue":
            with pytest.raises(IbError):
                verb(board)


def test_the_way_of_a_branch_is_told(board: Board) -> None:
    queued(board)
    seq = board.last_seq()
    board.merging(1)
    board.intend(1, "e" * 40, None)
    board.conflicted(1, ["x"], "both")
    board.requeue(1, "9" * 40)
    board.merging(1)
    board.requeue(1, reason="the base has moved")
    board.merging(1)
    board.merge_failed(1, "red")
    board.abandon(1, "enough")
    board.requeue(1)
    board.merging(1)
    board.merged(1, "f" * 40)

    assert [word.split()[0].removeprefix("merge_") for word in told(board, seq)] == (
        ["conflict", "ready", "ready", "failed", "failed", "ready", "merged"]
    )
    assert status(board, "t") == "done"
