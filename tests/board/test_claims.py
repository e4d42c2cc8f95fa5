"""What a claim takes: what fits, highest priority first, then oldest; a batch in one step."""

import pytest

from ibstatus.board.port import Board
from ibstatus.model.board import Claimer, Template
from tests.board.doing import ANY, add, fence, status, told

BOB = Claimer("bob")


def test_highest_priority_first_then_oldest(board: Board) -> None:
    for id, priority in (("d", 5), ("z", 9), ("a", 5), ("m", 0), ("y", 9)):
        add(board, id, priority=priority)

    assert [task.id for task in board.tasks()] == ["z", "y", "d", "a", "m"]
    assert [board.claim(ANY, BOB)[0].id for _ in range(5)] == ["z", "y", "d", "a", "m"]
    assert board.claim(ANY, BOB) == []


def test_a_batch_is_the_same_in_one_step(board: Board) -> None:
    for id, priority in (("d", 5), ("z", 9), ("a", 5)):
        add(board, id, priority=priority, body=f"body of {id}", project_id="p")
    seq = board.last_seq()

    taken = board.claim(ANY, BOB, 2)

    assert [(task.id, task.body, task.claimed_by, task.attempt) for task in taken] == [
        ("z", "body of z", "bob", 1),
        ("d", "body of d", "bob", 1),
    ]
    assert told(board, seq) == ["task_claimed z", "task_claimed d"]
    assert [task.id for task in board.claim(ANY, BOB, 10)] == ["a"]
    assert {task.status for task in board.done([fence(task) for task in taken])} == {"done"}
    add(board, "left")
    assert board.claim(ANY, BOB, 0) == board.claim(ANY, BOB, -1) == board.done([]) == []
    assert status(board, "left") == "ready"


FITS = {
    "all that needs nothing": (Template(), ["plain", "p", "q", "high"]),
    "a project": (Template(project_id="p"), ["p"]),
    "another project": (Template(project_id="q"), ["q"]),
    "no such project": (Template(project_id="P"), []),
    "a capability": (Template(capabilities=("gpu",)), ["gpu", "gpu-p", "high", "p", "plain", "q"]),
    "several": (Template(capabilities=("gpu", "web")), ["gpu", "gpu-p", "high", "p", "plain", "q", "web"]),
    "a capability in a project": (Template("p", ("gpu",)), ["gpu-p", "p"]),
    "a least priority": (Template(priority=6), ["high"]),
    "the lowest": (Template(priority=0), ["plain", "p", "q", "high"]),
    "none so high": (Template(priority=10), []),
    "all of it": (Template("p", ("web",), 5), ["p"]),
}


@pytest.mark.parametrize("what", FITS)
def test_a_claim_fits(board: Board, what: str) -> None:
    add(board, "plain")
    add(board, "p", project_id="p")
    add(board, "q", project_id="q")
    add(board, "high", priority=9)
    add(board, "gpu", capability="gpu")
    add(board, "gpu-p", capability="gpu", project_id="p")
    add(board, "web", capability="web")
    template, fit = FITS[what]

    assert sorted(task.id for task in board.claim(template, BOB, 99)) == sorted(fit)


def test_one_task_by_name_whoever_it_is_for(board: Board) -> None:
    """A person or script that names it knows what it does."""
    add(board, "t", capability="gpu", priority=0)

    assert board.claim_task("t", BOB).claimed_by == "bob"
    assert status(board, "t") == "claimed"


def test_tasks_are_listed_by_project_status_and_number(board: Board) -> None:
    add(board, "a", project_id="p", body="long")
    add(board, "b", project_id="p", draft=True)
    add(board, "c", project_id="q")

    assert [task.id for task in board.tasks("p")] == ["a", "b"]
    assert [task.id for task in board.tasks("p", ["ready", "claimed"])] == ["a"]
    assert [task.id for task in board.tasks(statuses=["draft"])] == ["b"]
    assert [task.id for task in board.tasks(limit=2)] == ["a", "b"]
    assert board.tasks()[0].body == ""
    assert board.tasks("nobody") == []
