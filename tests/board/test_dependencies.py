"""Who waits for whom, and what ends the wait."""

import pytest

from ibstatus.board.port import Board
from ibstatus.errors import IbError
from tests.board.doing import BRANCH, add, claim, claim_it, finish, known, status, told


def test_all_must_be_done(board: Board) -> None:
    for id in "ab":
        add(board, id)
    add(board, "t", after=("b", "a", "b"))
    assert sorted(known(board, "t").after) == ["a", "b"]

    finish(board, "a")
    assert (status(board, "t"), known(board, "t").waits_for) == ("pending", ["b"])
    finish(board, "b")

    task = known(board, "t")
    assert (task.status, task.waits_for, sorted(task.after)) == ("ready", [], ["a", "b"])


def test_what_is_done_already_holds_nobody_back(board: Board) -> None:
    add(board, "a")
    finish(board, "a")

    assert add(board, "t", after=("a",)).status == "ready"


def test_an_unknown_dependency_adds_nothing(board: Board) -> None:
    add(board, "a")
    seq = board.last_seq()

    with pytest.raises(IbError, match="nobody"):
        add(board, "t", after=("a", "nobody"))
    with pytest.raises(IbError):
        add(board, "u", after=("u",))

    assert (board.ids(""), board.last_seq()) == (["a"], seq)


def test_a_ready_task_can_be_made_to_wait(board: Board) -> None:
    add(board, "a")
    add(board, "t")

    assert board.depend("t", ["a"]).status == "pending"
    assert board.depend("t", ["a"]).after == ["a"]
    assert board.undepend("t", ["a"]).status == "ready"
    assert board.undepend("t", ["a"]).after == []
    finish(board, "a")
    assert board.depend("t", ["a"]).status == "ready", "it is done"


def test_a_draft_stays_one_until_it_is_published(board: Board) -> None:
    add(board, "a")
    add(board, "t", draft=True)
    assert board.depend("t", ["a"]).status == "draft"
    finish(board, "a")
    assert status(board, "t") == "draft"

    assert board.publish("t").status == "ready"


@pytest.mark.parametrize("on", [["c"], ["b"], ["other", "c"]])
def test_a_circle_is_refused_with_its_way_round(board: Board, on: list[str]) -> None:
    add(board, "other")
    add(board, "a")
    add(board, "b", after=("a",))
    add(board, "c", after=("b",))

    with pytest.raises(IbError, match=r"a → .*b → a"):
        board.depend("a", on)

    assert known(board, "a").after == []
    assert status(board, "a") == "ready"


def test_nobody_waits_for_itself(board: Board) -> None:
    add(board, "t")

    with pytest.raises(IbError, match="t → t"):
        board.depend("t", ["t"])


def test_a_chain_goes_step_by_step(board: Board) -> None:
    add(board, "t0")
    for number in range(1, 6):
        add(board, f"t{number}", after=(f"t{number - 1}",))

    for number in range(6):
        assert [task.id for task in board.tasks(statuses=["ready"])] == [f"t{number}"]
        finish(board, f"t{number}")


def test_a_fan_is_made_ready_in_one_step(board: Board) -> None:
    add(board, "a")
    for number in range(20):
        add(board, f"t{number}", after=("a",))
    held, seq = claim_it(board, "a"), board.last_seq()

    board.done([held])

    assert told(board, seq)[0] == "task_done a"
    assert sorted(told(board, seq)[1:]) == sorted(f"task_ready t{number}" for number in range(20))


def test_an_abandoned_branch_holds_nobody_back(board: Board) -> None:
    add(board, "a")
    add(board, "t", after=("a",))
    finish(board, "a", BRANCH)
    assert status(board, "t") == "pending"
    seq = board.last_seq()

    board.abandon(1, "not wanted")

    assert status(board, "t") == "ready"
    assert told(board, seq) == ["merge_failed a", "task_ready t"]


def test_a_branch_that_counts_again_holds_back_again(board: Board) -> None:
    add(board, "a")
    add(board, "t", after=("a",))
    add(board, "u", after=("a",))
    finish(board, "a", BRANCH)
    board.abandon(1, "not wanted")
    held = claim_it(board, "t")

    board.requeue(1)

    assert (status(board, "t"), status(board, "u")) == ("claimed", "pending")
    assert board.fail(held, "no").status == "pending"


def test_a_branch_that_is_queued_later_holds_back_too(board: Board) -> None:
    add(board, "a")
    add(board, "t", after=("a",))
    finish(board, "a")
    assert status(board, "t") == "ready"

    board.enqueue("a", "ann", BRANCH)

    assert status(board, "t") == "pending"


def test_a_dependency_hands_on_its_notes(board: Board) -> None:
    add(board, "far")
    add(board, "a", after=("far",))
    add(board, "t", after=("a",))
    board.note("far", "x", "handoff", "from far")
    finish(board, "far")
    board.note("a", "ann", "observation", "odd")
    board.fail(claim(board), "first try")
    board.note("a", "ann", "handoff", "mind the gap")
    board.done([claim(board)], "done at last")
    board.note("t", "bob", "failure", "mine")

    notes = board.context("t")

    assert [(note.task_id, note.kind, note.content) for note in notes] == [
        ("a", "observation", "odd"),
        ("a", "handoff", "mind the gap"),
        ("a", "result", "done at last"),
        ("t", "failure", "mine"),
    ]
    assert [note.kind for note in board.context("a")][-3:] == ["failure", "handoff", "result"]
