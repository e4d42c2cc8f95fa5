"""Every row of the table `The life of a task` in docs/board.md."""

import pytest

from ibstatus.board.port import Board, Lost
from ibstatus.errors import IbError
from ibstatus.model.board import Claimer, Fence
from tests.board.doing import ANY, BRANCH, RUN_OUT, add, claim, claim_it, finish, known, new, status, told

# Where a task can be, and how it gets there.


def drafted(board: Board) -> None:
    add(board, "t", draft=True)


def pending(board: Board) -> None:
    add(board, "first")
    add(board, "t", after=("first",))


def asking(board: Board) -> None:
    add(board, "t", requires_approval=True)


def ready(board: Board) -> None:
    add(board, "t")


def claimed(board: Board) -> None:
    ready(board)
    claim(board)


def done(board: Board) -> None:
    ready(board)
    finish(board, "t")


def failed(board: Board) -> None:
    add(board, "t", max_attempts=1)
    board.fail(claim(board), "no")


def rejected(board: Board) -> None:
    ready(board)
    board.reject("t", "me", "no")


STATES = {
    "draft": drafted,
    "pending": pending,
    "pending_approval": asking,
    "ready": ready,
    "claimed": claimed,
    "done": done,
    "failed": failed,
    "rejected": rejected,
}


@pytest.mark.parametrize("state", STATES)
def test_a_task_gets_where_it_can_be(board: Board, state: str) -> None:
    STATES[state](board)

    assert status(board, "t") == state
    assert [task.id for task in board.tasks(statuses=[state])] == ["t"]


VERBS = {
    "publish": lambda board: board.publish("t"),
    "approve": lambda board: board.approve("t", "me"),
    "reject": lambda board: board.reject("t", "me", "no"),
    "retry": lambda board: board.retry("t"),
    "claim": lambda board: board.claim_task("t", Claimer("bob")),
    "take_back": lambda board: board.take_back("t", "mine"),
    "depend": lambda board: board.depend("t", ["other"]),
    "done": lambda board: board.done([Fence("t", "ann", 1)]),
    "fail": lambda board: board.fail(Fence("t", "ann", 1), "no"),
    "release": lambda board: board.release(Fence("t", "ann", 1)),
    "beat": lambda board: board.beat(Fence("t", "ann", 1), 60.0),
}
# state: verb → where it leads; what is not here is refused.
MOVES = {
    "draft": {"publish": "ready", "approve": "draft", "reject": "rejected", "depend": "draft"},
    "pending": {"approve": "pending", "reject": "rejected", "depend": "pending"},
    "pending_approval": {"approve": "ready", "reject": "rejected", "depend": "pending"},
    "ready": {"approve": "ready", "reject": "rejected", "depend": "pending", "claim": "claimed"},
    "claimed": {
        "approve": "claimed",
        "take_back": "ready",
        "done": "done",
        "fail": "ready",
        "release": "ready",
        "beat": "claimed",
    },
    "done": {"done": "done"},
    "failed": {"retry": "ready", "reject": "rejected"},
    "rejected": {"retry": "ready", "reject": "rejected"},
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("state", STATES)
def test_from_each_state_each_verb_leads_where_it_may_or_nowhere(board: Board, state: str, verb: str) -> None:
    add(board, "other", priority=0)
    STATES[state](board)
    before, seq = known(board, "t"), board.last_seq()

    if verb in MOVES[state]:
        VERBS[verb](board)
        assert status(board, "t") == MOVES[state][verb]
    else:
        with pytest.raises(IbError):
            VERBS[verb](board)
        assert known(board, "t") == before
        assert board.last_seq() == seq


def test_a_completion_stands_before_what_it_makes_ready(board: Board) -> None:
    add(board, "a")
    add(board, "b", after=("a",))
    add(board, "c", after=("a",), requires_approval=True)
    assert [status(board, id) for id in "abc"] == ["ready", "pending", "pending"]
    seq = board.last_seq()

    finish(board, "a")

    assert told(board, seq)[:2] == ["task_claimed a", "task_done a"]
    assert sorted(told(board, seq)[2:]) == ["task_pending_approval c", "task_ready b"]


def test_a_branch_holds_dependents_back_until_it_is_merged(board: Board) -> None:
    add(board, "a")
    add(board, "b", after=("a",))
    finish(board, "a", BRANCH)
    assert known(board, "b").waits_for == ["a"]
    (entry,) = board.entries()
    board.merging(entry.id)
    seq = board.last_seq()

    board.merged(entry.id, "f" * 40)

    assert known(board, "b").waits_for == []
    assert told(board, seq) == ["merge_merged a", "task_ready b"]


def test_a_stale_fence_changes_nothing(board: Board) -> None:
    add(board, "t")
    stale = claim(board, lease=RUN_OUT)
    assert board.sweep() == ["t"]
    claim(board, "bob")
    before, seq = known(board, "t"), board.last_seq()

    with pytest.raises(Lost, match="ann"):
        board.done([stale], "late")

    assert known(board, "t") == before
    assert board.last_seq() == seq


def test_what_is_added_is_all_there(board: Board) -> None:
    add(board, "a")
    made = board.add(new("b", body="text", priority=7, capability="gpu", after=("a",), test="make", project_id="p"))

    assert known(board, "b") == made
    assert (made.body, made.after, made.waits_for, made.test) == ("text", ["a"], ["a"], "make")
    assert claim_it(board, "a") == Fence("a", "ann", 1)
    assert board.claim(ANY, Claimer("x")) == []


PATHS_TO_READY = {
    "added": lambda board: add(board, "t", requires_approval=True),
    "published": lambda board: (add(board, "t", requires_approval=True, draft=True), board.publish("t")),
    "after a dependency": lambda board: (
        add(board, "a"),
        add(board, "t", requires_approval=True, after=("a",)),
        finish(board, "a"),
    ),
    "no dependency any more": lambda board: (
        add(board, "a"),
        add(board, "t", requires_approval=True, after=("a",)),
        board.undepend("t", ["a"]),
    ),
    "tried again": lambda board: (
        add(board, "t", requires_approval=True),
        board.reject("t", "me", "no"),
        board.retry("t"),
    ),
    "after a merge": lambda board: (
        add(board, "a"),
        add(board, "t", requires_approval=True, after=("a",)),
        finish(board, "a", BRANCH),
        board.merging(1),
        board.merged(1, "f" * 40),
    ),
}


@pytest.mark.parametrize("path", PATHS_TO_READY)
def test_approval_stands_on_every_way_to_ready(board: Board, path: str) -> None:
    PATHS_TO_READY[path](board)

    assert status(board, "t") == "pending_approval"
    assert "t" not in [task.id for task in board.claim(ANY, Claimer("bob"), 9)]
    assert board.approve("t", "me").approved_by == "me"
    assert status(board, "t") == "ready"


def test_an_approval_ahead_of_time_counts_when_it_is_time(board: Board) -> None:
    add(board, "a")
    add(board, "t", requires_approval=True, after=("a",))

    assert board.approve("t", "me").status == "pending"
    finish(board, "a")

    assert status(board, "t") == "ready"
    board.fail(claim(board), "no")
    assert status(board, "t") == "ready", "once is enough"


def test_the_last_attempt_that_fails_is_the_end(board: Board) -> None:
    add(board, "t", max_attempts=2)

    assert board.fail(claim(board), "once").status == "ready"
    over = board.fail(claim(board), "twice")

    assert (over.status, over.attempt, over.reason, over.claimed_by) == ("failed", 2, "twice", None)
    assert board.claim(ANY, Claimer("bob")) == []


def test_a_retry_gives_as_many_attempts_as_it_was_added_with(board: Board) -> None:
    add(board, "t", max_attempts=2)
    board.release(claim(board))
    board.fail(claim(board), "once")
    board.fail(claim(board), "twice")

    again = board.retry("t")

    assert (again.status, again.attempt, again.max_attempts) == ("ready", 3, 5)
    for _ in range(2):
        board.fail(claim(board), "again")
    assert status(board, "t") == "failed"


def test_a_retry_waits_for_what_is_not_done(board: Board) -> None:
    add(board, "a")
    add(board, "t", after=("a",))
    board.reject("t", "me", "no")

    assert board.retry("t").status == "pending"


@pytest.mark.parametrize("back", ["release", "take_back"])
def test_what_is_given_or_taken_back_does_not_count(board: Board, back: str) -> None:
    add(board, "t", max_attempts=1)
    held = claim(board)

    task = board.release(held, "busy") if back == "release" else board.take_back("t", "busy")

    assert (task.status, task.attempt, task.max_attempts, task.reason) == ("ready", 1, 2, "busy")
    with pytest.raises(Lost):
        board.done([held])
    assert claim(board, "bob") == Fence("t", "bob", 2)


def test_what_failed_holds_back_until_it_is_tried_again(board: Board) -> None:
    add(board, "a", max_attempts=1)
    add(board, "b", after=("a",))
    board.fail(claim_it(board, "a"), "no")
    assert known(board, "b").waits_for == ["a"]

    board.retry("a")
    finish(board, "a")

    assert status(board, "b") == "ready"


def test_what_nobody_knows_is_refused(board: Board) -> None:
    for verb in VERBS.values():
        with pytest.raises(IbError):
            verb(board)
    assert board.task("t") is None
    with pytest.raises(IbError):
        board.note("t", "ann", "observation", "x")
    with pytest.raises(IbError):
        board.context("t")


def test_an_id_is_given_once(board: Board) -> None:
    add(board, "t", title="the first")

    with pytest.raises(IbError):
        add(board, "t", title="the second")

    assert known(board, "t").title == "the first"


def test_times_are_told_while_they_mean_something(board: Board) -> None:
    add(board, "t")
    task = known(board, "t")
    assert task.created_at.endswith("Z")
    assert (task.claimed_at, task.lease_until, task.done_at) == (None, None, None)
    held = claim(board)
    task = known(board, "t")
    assert task.claimed_at
    assert task.lease_until
    assert task.claimed_at < task.lease_until
    (over,) = board.done([held])
    assert over.done_at
    assert (over.lease_until, over.claimed_by, over.done_by) == (None, None, "ann")
