"""Whose word counts: the agent that holds the task, in the attempt it was given. Nobody else's changes anything."""

from collections.abc import Callable

import pytest

from ibstatus.board.port import Board, Lost
from ibstatus.errors import IbError
from ibstatus.model.board import Fence
from tests.board.doing import BRANCH, RUN_OUT, add, claim, claim_it, known, status, told

VERBS: dict[str, Callable[[Board, Fence], object]] = {
    "done": lambda board, fence: board.done([fence], "summary"),
    "done with a branch": lambda board, fence: board.done([fence], "summary", BRANCH),
    "fail": lambda board, fence: board.fail(fence, "reason"),
    "release": lambda board, fence: board.release(fence, "reason"),
    "beat": lambda board, fence: board.beat(fence, 60.0),
}
STALE = {
    "another agent": Fence("t", "bob", 2),
    "another agent, whatever attempt": Fence("t", "bob"),
    "an older attempt": Fence("t", "ann", 1),
    "an attempt to come": Fence("t", "ann", 3),
    "an agent that begins so": Fence("t", "an", 2),
    "an agent in another case": Fence("t", "Ann", 2),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_stale_fence_is_refused_and_changes_nothing(board: Board, verb: str) -> None:
    """Ann lost the first attempt and holds the second."""
    add(board, "t")
    claim(board, "ann", RUN_OUT)
    board.sweep()
    claim(board, "ann")
    before, seq = known(board, "t"), board.last_seq()

    for fence in STALE.values():
        with pytest.raises(Lost):
            VERBS[verb](board, fence)

    assert (known(board, "t"), board.last_seq()) == (before, seq)
    assert (board.entries(), board.context("t")) == ([], [])


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("attempt", [2, None])
def test_the_holder_is_heard(board: Board, verb: str, attempt: int | None) -> None:
    add(board, "t")
    board.release(claim(board))
    claim(board)

    VERBS[verb](board, Fence("t", "ann", attempt))


def test_who_lost_it_learns_who_has_it(board: Board) -> None:
    add(board, "t")
    stale = claim(board, "ann")
    board.take_back("t", "")
    claim(board, "bob")

    with pytest.raises(Lost) as refused:
        board.fail(stale, "x")

    assert "bob" in f"{refused.value.message} {refused.value.cause}"


def test_a_lease_that_ran_out_unseen_is_still_held(board: Board) -> None:
    """Nobody else has it: what was done is done."""
    add(board, "t")

    board.done([claim(board, lease=RUN_OUT)])

    assert status(board, "t") == "done"


def test_done_said_again_is_the_same_answer(board: Board) -> None:
    add(board, "a")
    add(board, "b", after=("a",))
    held = claim(board)
    first = board.done([held], "it works", BRANCH)
    seq = board.last_seq()

    assert board.done([held], "it works", BRANCH) == first
    assert board.done([Fence("a", "ann")], "something else") == first
    assert board.last_seq() == seq
    assert len(board.entries()) == 1
    for other in (Fence("a", "ann", 2), Fence("a", "bob", 1), Fence("a", "bob")):
        with pytest.raises(Lost):
            board.done([other])


def test_several_are_done_together_or_not_at_all(board: Board) -> None:
    for id in "abc":
        add(board, id)
    held = [claim(board) for _ in "abc"]
    board.take_back("c", "")
    before, seq = [known(board, id) for id in "abc"], board.last_seq()

    with pytest.raises(Lost):
        board.done(held, "all")
    assert ([known(board, id) for id in "abc"], board.last_seq()) == (before, seq)

    done = board.done(held[:2], "both")
    assert [(task.id, task.status, task.summary) for task in done] == [("a", "done", "both"), ("b", "done", "both")]
    assert told(board, seq) == ["task_done a", "task_done b"]


def test_a_branch_belongs_to_one_task(board: Board) -> None:
    for id in "ab":
        add(board, id)
    held = [claim(board) for _ in "ab"]

    with pytest.raises(IbError):
        board.done(held, "both", BRANCH)

    assert [status(board, id) for id in "ab"] == ["claimed", "claimed"]


def test_one_without_a_task_refuses_all(board: Board) -> None:
    add(board, "a")

    with pytest.raises(IbError):
        board.done([claim_it(board, "a"), Fence("nobody", "ann", 1)])

    assert status(board, "a") == "claimed"
