"""The stream: which fields each channel has, its order, its filters, and the bell."""

import threading
from collections.abc import Callable

import msgspec

from ibstatus.board.port import Board
from ibstatus.board.rules import validation as rules
from ibstatus.model.board import Branch, Event
from tests.board.doing import BRANCH, RUN_OUT, add, claim, claim_it, finish, new, since, told

ALWAYS = {"seq", "channel", "ts", "task_id", "project_id", "title"}
SHA = "a" * 40


def last(board: Board, channel: str) -> Event:
    return board.events(0, channels=[channel])[-1]


def shown(event: Event) -> dict[str, object]:
    """Without what every event has."""
    told = msgspec.to_builtins(event)
    assert set(told) >= ALWAYS
    assert (told["task_id"], told["project_id"], told["title"]) == ("t", "p", "Title of t")
    return {key: value for key, value in told.items() if key not in ALWAYS}


def test_the_channels_of_a_task_say_what_they_are_to_say(board: Board) -> None:
    add(board, "t", project_id="p", priority=7, max_attempts=2, requires_approval=True)
    assert shown(last(board, "task_pending_approval")) == {"priority": 7}
    board.approve("t", "me")
    assert shown(last(board, "task_ready")) == {"priority": 7, "attempt": 0, "max_attempts": 2}
    held = claim(board)
    assert shown(last(board, "task_claimed")) == {"agent_id": "ann", "priority": 7, "attempt": 1, "max_attempts": 2}
    board.fail(held, "red")
    failure = {"agent_id": "ann", "attempt": 1, "max_attempts": 2, "reason": "red"}
    assert shown(last(board, "task_retry")) == failure
    assert shown(last(board, "task_ready")) == {"priority": 7, "attempt": 1, "max_attempts": 2, "reason": "red"}
    board.fail(claim(board), "still red")
    assert shown(last(board, "task_failed")) == {**failure, "attempt": 2, "reason": "still red"}
    board.reject("t", "boss", "enough")
    assert shown(last(board, "task_rejected")) == {"agent_id": "boss", "reason": "enough"}
    board.retry("t")
    board.done([claim(board, "bob")], "green")
    assert shown(last(board, "task_done")) == {"agent_id": "bob", "attempt": 3, "summary": "green"}


def test_what_comes_back_says_why(board: Board) -> None:
    add(board, "t", project_id="p")
    board.release(claim(board), "busy")
    assert last(board, "task_ready").reason == "busy"
    claim(board)
    board.take_back("t", "gone")
    assert last(board, "task_ready").reason == "gone"
    claim(board, lease=RUN_OUT)
    board.sweep()
    assert last(board, "task_ready").reason == rules.NO_SIGN
    assert len(board.events(0, channels=["task_retry"])) == 1, "only what ran out has failed"


def test_the_channels_of_the_merge_queue_say_what_they_are_to_say(board: Board) -> None:
    add(board, "t", project_id="p")
    finish(board, "t", BRANCH)
    branch = {"queue_id": "1", "agent_id": "ann", "branch": "agent/a", "base": "main", "sha": SHA}
    assert shown(last(board, "merge_ready")) == branch
    board.merging(1)
    board.conflicted(1, ["a.py"], "both")
    assert shown(last(board, "merge_conflict")) == {**branch, "conflict_files": ["a.py"], "reason": "both"}
    board.requeue(1, "b" * 40)
    assert shown(last(board, "merge_ready")) == {**branch, "sha": "b" * 40}
    board.merging(1)
    board.merge_failed(1, "red")
    assert shown(last(board, "merge_failed")) == {**branch, "sha": "b" * 40, "reason": "red"}
    board.abandon(1, "never mind")
    assert last(board, "merge_failed").reason == "never mind"
    board.requeue(1)
    board.merging(1)
    board.merged(1, "f" * 40)
    assert shown(last(board, "merge_merged")) == {**branch, "sha": "f" * 40}


def test_each_thing_is_told_in_the_order_in_which_it_happened(board: Board) -> None:
    add(board, "a")
    add(board, "b", after=("a",))
    finish(board, "a", BRANCH)
    board.merging(1)
    board.merged(1, SHA)

    assert told(board) == [
        "task_ready a",
        "task_claimed a",
        "task_done a",
        "merge_ready a",
        "merge_merged a",
        "task_ready b",
    ]
    seqs = [event.seq for event in board.events(0)]
    assert seqs == sorted(set(seqs))
    assert board.last_seq() == seqs[-1]


def test_what_does_not_change_the_stand_is_no_event(board: Board) -> None:
    add(board, "t", draft=True)
    assert (board.events(0), board.last_seq()) == ([], 0)
    board.publish("t")
    held, seq = claim(board), board.last_seq()

    board.beat(held, 60.0)
    board.note("t", "ann", "observation", "x")
    board.sweep()
    board.approve("t", "me")

    assert board.last_seq() == seq


def test_long_texts_are_cut_and_the_task_has_them_whole(board: Board) -> None:
    title, text = "é" * 300, "ü" * 3000
    add(board, "t", title=title, project_id="p")
    board.fail(claim(board), text)
    board.done([claim(board)], text, BRANCH)

    done = last(board, "task_done")
    assert (done.title, done.summary) == (rules.cut(title, 200), rules.cut(text, 2000))
    assert last(board, "task_retry").reason == rules.cut(text, 2000)
    assert last(board, "merge_ready").title == rules.cut(title, 200)
    task = board.task("t")
    assert task is not None
    assert (task.title, task.summary) == (title, text)


def test_texts_that_just_fit_are_whole(board: Board) -> None:
    add(board, "t", title="é" * 200)
    board.fail(claim(board), "ü" * 2000)

    assert (last(board, "task_retry").title, last(board, "task_retry").reason) == ("é" * 200, "ü" * 2000)


def test_a_reader_goes_on_where_it_was(board: Board) -> None:
    for id in "abcde":
        add(board, id)
    whole = board.events(0)

    assert board.events(whole[1].seq) == whole[2:]
    assert board.events(0, limit=2) == whole[:2]
    assert board.events(whole[0].seq, limit=1) == whole[1:2]
    assert board.events(whole[-1].seq) == []
    assert board.events(10**9) == board.events(10**30) == []
    assert board.events(-5) == whole


def test_a_reader_hears_the_channels_and_the_project_it_asks_for(board: Board) -> None:
    add(board, "a", project_id="p")
    add(board, "b", project_id="q")
    add(board, "c")
    for id in "abc":
        finish(board, id, Branch("r", id, "main", SHA))

    def heard(**filters: object) -> list[str]:
        return [f"{event.channel} {event.task_id}" for event in board.events(0, **filters)]  # type: ignore[arg-type]

    assert heard(channels=["task_done"]) == ["task_done a", "task_done b", "task_done c"]
    assert heard(channels=["task_done", "merge_ready"], project_id="q") == ["task_done b", "merge_ready b"]
    assert heard(project_id="q")[-1] == "merge_ready b", "a merge belongs to the project of its task"
    assert heard(channels=["task_ready"], project_id="nobody") == []
    assert heard(channels=["task_done"], limit=2) == ["task_done a", "task_done b"]
    assert [event.task_id for event in since(board, 0, "task_ready")] == ["a", "b", "c"]


def test_a_bell_rings_for_what_others_change(board: Board, open_board: Callable[[], Board]) -> None:
    other, bell = open_board(), board.doorbell()
    try:
        other.add(new("a"))
        assert bell.wait(20)
        assert not bell.wait(0)
        held = claim_it(other, "a")
        assert bell.wait(20)
        other.done([held])
        assert bell.wait(20)
        assert not bell.wait(0.05)
    finally:
        bell.close()


def test_a_bell_rings_for_who_waits_already(board: Board, open_board: Callable[[], Board]) -> None:
    bell, heard = board.doorbell(), list[bool]()
    waiter = threading.Thread(target=lambda: heard.append(bell.wait(20)))
    waiter.start()
    open_board().add(new("a"))
    waiter.join(20)
    bell.close()

    assert heard == [True]
