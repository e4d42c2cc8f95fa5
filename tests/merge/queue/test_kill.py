"""`kill -9` of a merger of the queue between any two steps, and two mergers at once that are killed at random."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench import board_merge as bench
from ibstatus.agents import recover
from ibstatus.board.sqlite.store import SqliteBoard
from ibstatus.merge.queue.drain import drain, turn
from ibstatus.project import agents, operations, paths
from ibstatus.system.git import refs
from tests.conftest import Done, git, make_repo
from tests.gitwork import commit, parents, subjects, tip
from tests.killed import Counter
from tests.queuework import opened, queue, side
from tests.sweeps import Sweep

Agent = Callable[..., Path]
MOST_STEPS = 120
MOVES = {"update-ref", "read-tree"}


def killed_at(place: paths.Place, number: int) -> bool:
    """A merger in a child that dies right before its n-th step: a word to the board, a note of its operation, or a git
    that changes something. False: it came to its end before."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    try:
        counter = Counter(number)
        for name in ("merging", "intend", "merged", "requeue"):
            setattr(SqliteBoard, name, counter.counted(getattr(SqliteBoard, name)))
        for name in ("note", "done"):
            setattr(operations.Operation, name, counter.counted(getattr(operations.Operation, name)))
        real, stepped = refs.asked, counter.counted(refs.asked)

        def asked(cwd: str, *args: str, **more: Any) -> Any:
            return (stepped if MOVES & {*args[:1]} else real)(cwd, *args, **more)

        refs.asked = asked  # type: ignore[assignment]
        drain(place, opened(place), lambda text: None)
    finally:
        os._exit(0)


@pytest.mark.sweep
@pytest.mark.parametrize("way", ["checked out", "elsewhere", "linear", "tested"])
def test_a_killed_merger_leaves_nothing_half_done(tmp_path: Path, way: str) -> None:
    """Step by step, each in a repository of its own, until the merge comes to its end before it is killed."""
    outcomes, sweep = {}, Sweep(every=5, longest=MOST_STEPS)
    for number in sweep:
        place = make_repo(tmp_path / str(number) / "repo")
        work = side(place, "topic", "new.txt", "new\n")
        ours = commit(place.root, "ours.txt", "ours\n")
        board = opened(place)
        queue(place, board, "topic", linear=way == "linear", test="test -f new.txt" if way == "tested" else "")
        board.close()
        if way == "elsewhere":
            git(place.root, "checkout", "-q", "-b", "mine")
        was_killed = killed_at(place, number)
        outcomes[number] = tip(place.root, "main") != ours
        settled(place, way, work, ours)
        sweep.tell(was_killed)

    in_order = [outcomes[number] for number in sorted(outcomes)]
    assert in_order == sorted(in_order)
    assert (in_order[0], in_order[-1]) == (False, True)


def settled(place: paths.Place, way: str, work: str, ours: str) -> None:
    """Merged just once, after the next merger has been there; the checkout is as clean as it was."""
    board = opened(place)
    drain(place, board, lambda text: None)
    [entry] = board.entries()
    board.close()
    assert (entry.status, entry.merge_sha) == ("merged", tip(place.root, "main"))
    assert list(operations.unfinished(place)) == []
    if way == "linear":
        assert subjects(place.root, "main") == ["write new.txt", "write ours.txt", "first"]
    else:
        assert parents(place.root, "main") == [ours, work]
    assert git(place.root, "status", "--porcelain", "--untracked-files=no") == ""
    assert Path(place.root, "new.txt").exists() == (way != "elsewhere")
    if way == "tested":
        assert entry.receipt is not None
        assert entry.receipt["exit"] == 0


@pytest.mark.sweep
@pytest.mark.usefixtures("tmux")
@pytest.mark.parametrize("first", ["list", "merge"])
def test_a_merger_that_is_killed_while_it_closes_an_agent(tmp_path: Path, agent: Agent, first: str) -> None:
    """`first`: who finds it, any command (which mends) or at once the next merger."""
    sweep = Sweep(every=8, longest=MOST_STEPS)
    for number in sweep:
        place = make_repo(tmp_path / str(number) / "repo")
        board = opened(place)
        work = commit(agent(place, "w"), "new.txt", "new\n")
        queue(place, board, "agent/w")
        board.close()
        was_killed = killed_at(place, number)
        if first == "list":
            recover.everything(place)
        board = opened(place)
        drain(place, board, lambda text: None)

        assert [entry.status for entry in board.entries()] == ["merged"]
        board.close()
        assert parents(place.root, "main")[1] == work
        assert subjects(place.root, "--merges") == ["Merge agent/w: Title of agent-w-0"]
        assert not agents.exists(place, "w")
        assert git(place.root, "branch", "--list", "agent/w") == ""
        assert git(place.root, "status", "--porcelain", "--untracked-files=no") == ""
        assert list(operations.unfinished(place)) == []
        sweep.tell(was_killed)


def test_two_mergers_that_are_killed_at_random_merge_each_branch_once() -> None:
    rows = bench.measure(branches=6, ways=(False,))

    assert [row for row in rows if not row.holds] == []


def left_merging(place: paths.Place, board: SqliteBoard) -> None:
    """Two are queued; the merger of the first one is dead."""
    for name in ("a", "b"):
        side(place, name, f"{name}.txt", name)
        queue(place, board, name)
    board.merging(1)


def test_one_whose_merger_died_keeps_nobody_behind_it(repo: paths.Place, board: SqliteBoard) -> None:
    """Its test may end whoever runs it, each time."""
    left_merging(repo, board)

    drain(repo, board, lambda text: None)

    assert [entry.status for entry in board.entries()] == ["merged", "merged"]
    assert [line for line in subjects(repo.root) if line.startswith("Merge")] == [
        "Merge a: Title of a-0",
        "Merge b: Title of b-1",
    ]


def test_one_whose_merger_died_can_be_given_up(repo: paths.Place, board: SqliteBoard, ib: Callable[..., Done]) -> None:
    left_merging(repo, board)

    with turn(repo, "refs/heads/main", False, print) as ours:
        assert ours
        assert "is merging, so it cannot be abandoned" in ib("board", "merge", "abandon", "1").err, (
            "a living one has it"
        )
    assert ib("board", "merge", "abandon", "1").code == 0

    entry = board.entry(1)
    assert entry is not None
    assert entry.abandoned
    assert git(repo.root, "log", "--format=%s").splitlines() == ["first"]
