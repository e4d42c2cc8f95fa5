"""A lease runs by the store's clock; who looks for work looks for leases that have run out."""

import pytest

from ibstatus.board.port import Board
from ibstatus.board.rules import validation as rules
from ibstatus.errors import IbError
from ibstatus.model.board import Claimer, Fence
from tests.board.doing import ANY, RUN_OUT, add, claim, known, status, told


def test_a_lease_that_ran_out_gives_the_task_back(board: Board) -> None:
    add(board, "t")
    claim(board, lease=RUN_OUT)
    seq = board.last_seq()

    assert board.sweep() == ["t"]

    task = known(board, "t")
    assert (task.status, task.attempt, task.max_attempts, task.claimed_by) == ("ready", 1, 3, None)
    assert task.reason == rules.NO_SIGN
    assert told(board, seq) == ["task_retry t", "task_ready t"]
    assert board.sweep() == []


def test_a_lease_that_runs_is_left_alone(board: Board) -> None:
    add(board, "t")
    claim(board)

    assert board.sweep() == []
    assert board.claim(ANY, Claimer("bob")) == []
    with pytest.raises(IbError):
        board.claim_task("t", Claimer("bob"))
    assert status(board, "t") == "claimed"


def test_the_last_lease_that_ran_out_is_the_end(board: Board) -> None:
    add(board, "t", max_attempts=1)
    add(board, "after", after=("t",))
    claim(board, lease=RUN_OUT)
    seq = board.last_seq()

    assert board.claim(ANY, Claimer("bob")) == []

    assert status(board, "t") == "failed"
    assert told(board, seq) == ["task_failed t"]
    assert status(board, "after") == "pending"


def test_who_looks_for_work_finds_what_ran_out(board: Board) -> None:
    for id in "ab":
        add(board, id)
        claim(board, lease=RUN_OUT)

    (first,) = board.claim(ANY, Claimer("bob"))
    second = board.claim_task("b", Claimer("bob"))

    assert [(task.id, task.claimed_by, task.attempt) for task in (first, second)] == [("a", "bob", 2), ("b", "bob", 2)]


def test_a_batch_is_filled_up_with_what_ran_out(board: Board) -> None:
    add(board, "a")
    claim(board, lease=RUN_OUT)
    add(board, "b")

    assert sorted(task.id for task in board.claim(ANY, Claimer("bob"), 5)) == ["a", "b"]


def test_a_sign_of_life_extends_it(board: Board) -> None:
    add(board, "t")
    held = claim(board, lease=RUN_OUT)

    assert board.beat(held, 600.0).lease_until

    assert board.sweep() == []
    board.beat(held, RUN_OUT)
    assert board.sweep() == ["t"]


def test_a_note_of_the_holder_is_a_sign_of_life(board: Board) -> None:
    add(board, "t")
    held = claim(board, lease=600.0)
    short = board.beat(held, 600.0).lease_until

    board.note("t", "ann", "observation", "still here")
    board.note("t", "bob", "observation", "so am I")

    assert str(known(board, "t").lease_until) >= str(short)
    assert board.sweep() == []


def test_a_note_of_somebody_else_is_none(board: Board) -> None:
    add(board, "t")
    claim(board, lease=RUN_OUT)

    board.note("t", "bob", "observation", "I am alive, too")

    assert board.sweep() == ["t"]


def test_an_agent_whose_lease_ran_out_is_refused_once_that_was_seen(board: Board) -> None:
    add(board, "t")
    stale = claim(board, "ann", RUN_OUT)
    board.sweep()

    with pytest.raises(IbError):
        board.beat(stale, 600.0)

    assert claim(board, "ann") == Fence("t", "ann", 2)


def test_what_ran_out_waits_when_its_dependency_counts_again(board: Board) -> None:
    """Nobody begins on a base that lacks the branch."""
    add(board, "a")
    add(board, "t")
    claim_of_t = board.claim_task("t", Claimer("ann", RUN_OUT))
    assert claim_of_t.status == "claimed"
    board.sweep()
    board.depend("t", ["a"])

    assert status(board, "t") == "pending"


@pytest.mark.parametrize("lease", [float("inf"), 1e300, 1e15, -1e300, float("-inf"), float("nan")])
def test_a_lease_beyond_all_dates_spoils_nothing(board: Board, lease: float) -> None:
    """It is cut or refused; what must not be is a board that cannot be listed any more."""
    add(board, "t")
    try:
        board.claim(ANY, Claimer("ann", lease))
    except IbError:
        assert status(board, "t") == "ready"
    board.sweep()

    assert [task.id for task in board.tasks()] == ["t"]
    if lease > 0:
        assert status(board, "t") in ("ready", "claimed")
