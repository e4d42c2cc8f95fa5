"""The queue is watched: what comes is merged without being asked for, and a board that goes away is opened anew."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ibstatus.board.port import Board, Gone
from ibstatus.merge.queue import drain
from ibstatus.model.board import Entry
from ibstatus.project import paths
from ibstatus.system import locks
from tests.gitwork import subjects
from tests.queuework import opened, queue, side
from tests.until import until

Start = Callable[[Callable[[], Board]], list[str]]


@pytest.fixture
def over() -> list[Entry]:
    """What became of each, as it is reported."""
    return []


@pytest.fixture
def watched(repo: paths.Place, over: list[Entry]) -> Iterator[Start]:
    """Begins to watch in a thread; what it says is in the list."""
    stop, threads = threading.Event(), []

    def start(open_board: Callable[[], Board]) -> list[str]:
        said: list[str] = []
        args = (repo, open_board, stop, said.append, over.extend)
        thread = threading.Thread(target=drain.watch, args=args)
        thread.start()
        threads.append(thread)
        return said

    yield start
    stop.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def test_what_is_there_and_what_comes_is_merged(
    repo: paths.Place, board: Board, watched: Start, over: list[Entry]
) -> None:
    """The second one comes while nobody polls: the bell alone brings it."""
    for name in ("a", "b"):
        side(repo, name, f"{name}.txt", name)
    queue(repo, board, "a")
    watched(lambda: opened(repo))
    until(lambda: board.entries()[0].status == "merged")

    queue(repo, board, "b")

    until(lambda: board.entries()[1].status == "merged")
    assert Path(repo.root, "b.txt").exists()
    until(lambda: [(entry.id, entry.status) for entry in over] == [(1, "merged"), (2, "merged")])


def test_several_watchers_are_safe(repo: paths.Place, board: Board, watched: Start) -> None:
    names = ["a", "b", "c", "d"]
    for name in names:
        side(repo, name, f"{name}.txt", name)
    for _ in range(2):
        watched(lambda: opened(repo))

    for name in names:
        queue(repo, board, name)

    until(lambda: all(entry.status == "merged" for entry in board.entries()))
    assert len(subjects(repo.root, "--merges")) == 4


def test_a_board_that_is_gone_is_said_once_and_opened_anew(repo: paths.Place, board: Board, watched: Start) -> None:
    side(repo, "a", "a.txt", "a")
    queue(repo, board, "a")
    tries = iter(range(3))

    def open_board() -> Board:
        if next(tries, None) is not None:
            raise Gone("The board cannot be reached", cause="no answer")
        return opened(repo)

    said = watched(open_board)

    until(lambda: board.entries()[0].status == "merged")
    assert said[:2] == ["The board cannot be reached; trying again until it is back (no answer)", "The board is back"]


def test_one_that_waits_rests_until_the_poll_and_then_goes(
    repo: paths.Place, board: Board, watched: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drain, "POLL", 0.2)
    side(repo, "a", "a.txt", "a")
    queue(repo, board, "a")
    Path(repo.root, "file.txt").write_text("mine\n")
    said = watched(lambda: opened(repo))
    until(lambda: said)

    Path(repo.root, "file.txt").write_text("one\n")

    until(lambda: board.entries()[0].status == "merged")
    assert [line for line in said if "waits for" in line] == said[:1]


def test_the_merger_that_lets_go_looks_again(repo: paths.Place, board: Board, watched: Start, tmp_path: Path) -> None:
    """While a test runs, others leave the base to its merger, which takes what came meanwhile."""
    side(repo, "a", "a.txt", "a")
    side(repo, "b", "b.txt", "b")
    go, there = tmp_path / "go", tmp_path / "there"
    queue(repo, board, "a", test=f": > {there}; while [ ! -e {go} ]; do sleep 0.02; done")
    watched(lambda: opened(repo))
    until(there.exists)
    [lock] = Path(repo.safe, "locks").glob("queue-*")
    assert locks.is_held(str(lock))

    queue(repo, board, "b")
    assert drain.drain(repo, board, print, patient=False) == []
    go.touch()

    until(lambda: all(entry.status == "merged" for entry in board.entries()))
