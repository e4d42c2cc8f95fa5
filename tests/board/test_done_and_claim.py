"""Done, and the next one taken, in one step: as the two calls one after the other, but nobody comes in between."""

import pytest

from ibstatus.board.port import Board, Lost
from ibstatus.errors import IbError
from ibstatus.model.board import Claimer, Fence, Template
from tests.board.doing import ANY, BRANCH, RUN_OUT, add, claim, known, status, told

ANN = Claimer("ann")


def test_the_next_is_the_best_there_is(board: Board) -> None:
    for id, priority in (("a", 5), ("b", 1), ("c", 3)):
        add(board, id, priority=priority)
    held, seq = claim(board), board.last_seq()

    (taken,) = board.done_and_claim([held], ANY, ANN, "it works")

    assert (taken.id, taken.status, taken.claimed_by, taken.attempt) == ("c", "claimed", "ann", 1)
    assert (known(board, "a").status, known(board, "a").summary) == ("done", "it works")
    assert [note.content for note in board.context("a")] == ["it works"]
    assert told(board, seq) == ["task_done a", "task_claimed c"]


def test_it_may_be_one_that_this_has_set_free(board: Board) -> None:
    add(board, "a")
    add(board, "b", after=("a",), body="go on")
    seq = board.last_seq()

    (taken,) = board.done_and_claim([claim(board)], ANY, ANN)

    assert (taken.id, taken.body) == ("b", "go on")
    assert told(board, seq) == ["task_claimed a", "task_done a", "task_ready b", "task_claimed b"]


def test_several_at_once_of_what_fits(board: Board) -> None:
    for id in "ab":
        add(board, id, priority=9)
    for id, project in (("c", "p"), ("d", "q"), ("e", "p"), ("f", "p")):
        add(board, id, project_id=project)

    taken = board.done_and_claim([claim(board), claim(board)], Template("p"), Claimer("ann", 60.0), "both", count=2)

    assert [task.id for task in taken] == ["c", "e"]
    assert {status(board, id) for id in "ab"} == {"done"}


def test_where_nothing_is_left_it_is_done_all_the_same(board: Board) -> None:
    add(board, "a")

    assert board.done_and_claim([claim(board)], ANY, ANN) == []
    assert status(board, "a") == "done"


def test_a_lease_that_ran_out_is_taken_over(board: Board) -> None:
    for id in "ab":
        add(board, id)
    held = claim(board)
    claim(board, "bob", RUN_OUT)

    (taken,) = board.done_and_claim([held], ANY, ANN)

    assert (taken.id, taken.claimed_by, taken.attempt) == ("b", "ann", 2)


def test_with_a_branch_what_waits_for_the_merge_is_not_next(board: Board) -> None:
    add(board, "a")
    add(board, "b", after=("a",), priority=9)
    add(board, "c")
    held = claim(board)

    (taken,) = board.done_and_claim([held], ANY, ANN, "well", BRANCH)

    assert (taken.id, status(board, "a"), status(board, "b")) == ("c", "done", "pending")
    assert [(entry.task_id, entry.branch) for entry in board.entries()] == [("a", BRANCH.branch)]
    with pytest.raises(IbError):
        board.done_and_claim([held, Fence("c", "ann", 1)], ANY, ANN, "", BRANCH)
    with pytest.raises(Lost):
        board.done_and_claim([Fence("c", "bob", 1)], ANY, ANN, "", BRANCH)
    assert status(board, "c") == "claimed"


def test_who_has_lost_it_gets_nothing(board: Board) -> None:
    for id in "ab":
        add(board, id)
    held = claim(board)
    board.take_back("a", "")
    before, seq = [known(board, id) for id in "ab"], board.last_seq()

    with pytest.raises(Lost):
        board.done_and_claim([held], ANY, ANN, "late")
    with pytest.raises(IbError):
        board.done_and_claim([Fence("nobody", "ann", 1)], ANY, ANN)

    assert ([known(board, id) for id in "ab"], board.last_seq()) == (before, seq)


def test_said_again_it_is_done_once_and_the_next_is_another(board: Board) -> None:
    """The first answer got lost, and with it who was claimed: as with any claim, its lease gives that one back."""
    for id in "abc":
        add(board, id)
    held = claim(board)

    assert [task.id for task in board.done_and_claim([held], ANY, ANN)] == ["b"]
    assert [task.id for task in board.done_and_claim([held], ANY, ANN)] == ["c"]
    assert told(board).count("task_done a") == 1
