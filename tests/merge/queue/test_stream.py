"""Who watches the board goes on, whatever it is refused."""

import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import pytest

from ibstatus.board import opening
from ibstatus.board import watch as stream
from ibstatus.board.port import Board, Gone
from ibstatus.board.reconnect import Steady
from ibstatus.model.board import Event
from ibstatus.project import paths
from tests.board.doing import RUN_OUT, add, claim
from tests.queuework import opened
from tests.until import until

REFUSE = """
CREATE TRIGGER refused BEFORE UPDATE ON tasks WHEN OLD.status = 'claimed' BEGIN SELECT RAISE(ABORT, 'no room'); END
"""


class Over(Exception):
    """The test has seen enough."""


def watching(open_board: Callable[[], Board], since: int) -> tuple[list[str], list[str | None], threading.Thread]:
    """(what it says, the tasks whose events it tells, the thread), until it has told of the task `last`."""
    said, told = list[str](), list[str | None]()

    def tell(event: Event) -> None:
        told.append(event.task_id)
        if event.task_id == "last":
            raise Over

    def watch() -> None:
        with Steady(open_board, said.append) as steady, pytest.raises(Over):
            stream.follow(steady, stream.Wanted(since), tell, lambda seq: None)

    thread = threading.Thread(target=watch)
    thread.start()
    return said, told, thread


def test_a_lease_that_it_cannot_end_does_not_end_who_watches(
    repo: paths.Place, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "LOOK_EVERY", 0.01)
    add(board, "late")
    claim(board, lease=RUN_OUT)
    other = sqlite3.connect(repo.board)
    other.execute(REFUSE)
    said, told, thread = watching(lambda: opened(repo), 0)
    until(lambda: said or not thread.is_alive())
    add(board, "last")
    thread.join(60)

    assert told == ["late", "late", "last"]
    assert said == ["Leases cannot be looked after from here: The board refused that (no room)"]
    other.close()


def test_a_board_that_was_made_anew_is_told_from_its_beginning_at_once(
    repo: paths.Place, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for the look that finds what no bell has told."""
    monkeypatch.setattr(stream, "LOOK_EVERY", 600.0)
    add(board, "first")
    board.close()
    said, told, thread = watching(opening.again(repo), 0)
    until(lambda: told == ["first"])
    for end in ("-wal", "-shm", ""):
        os.unlink(repo.board + end)
    with closing(opened(repo)) as anew:
        add(anew, "other")
        add(anew, "last")
    thread.join(60)

    assert told == ["first", "other", "last"]
    assert said[-1] == stream.ANEW


class Breaking:
    """A board that is lost while its events are asked for, and another one is there when it is opened again."""

    def __init__(self, board: Board, at: int, exchange: Callable[[], None]) -> None:
        self.board, self.left, self.exchange = board, at, exchange

    def __getattr__(self, name: str) -> object:
        return getattr(self.board, name)

    def breaks(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.exchange()
            raise Gone("The server went away")

    def events(self, *args: Any) -> Sequence[Event]:
        self.breaks()
        return self.board.events(*args)

    def last_seq(self) -> int:
        self.breaks()
        return self.board.last_seq()


@pytest.fixture
def exchange(repo: paths.Place) -> Callable[[], None]:
    """Puts another board in the place of the one that is there, which has `a` and `b`."""
    for names, path in ((("x", "y", "z", "last"), repo.board + ".other"), (("a", "b"), repo.board + ".first")):
        with closing(opened(repo)) as made:
            for name in names:
                add(made, name)
        os.rename(repo.board, path)
    os.rename(path, repo.board)
    return lambda: os.rename(repo.board + ".other", repo.board)


BACK = ["The server went away; trying again until it is back", "The board is back"]


@pytest.mark.parametrize(
    ("since", "at", "before"), [(0, 3, ""), (0, 4, ""), (0, 5, "ab"), (1, 3, ""), (1, 4, ""), (1, 5, "b")]
)
def test_one_that_breaks_in_the_midst_and_is_another_then(
    repo: paths.Place, exchange: Callable[[], None], since: int, at: int, before: str
) -> None:
    boards = [lambda: opened(repo), lambda: Breaking(opened(repo), at, exchange)]
    said, told, thread = watching(lambda: (boards.pop() if len(boards) > 1 else boards[0])(), since)
    thread.join(60)

    assert told == [*before, "x", "y", "z", "last"]
    assert said == [*BACK, stream.ANEW]


@pytest.mark.parametrize("at", range(1, 5))
def test_one_that_breaks_again_before_it_is_known_and_is_another_then(
    repo: paths.Place, exchange: Callable[[], None], at: int
) -> None:
    again = [lambda: opened(repo), lambda: Breaking(opened(repo), at, exchange)]
    boards = [*again, lambda: Breaking(opened(repo), 5, lambda: None)]
    said, told, thread = watching(lambda: (boards.pop() if len(boards) > 1 else boards[0])(), 0)
    thread.join(60)

    assert told == ["a", "b", "x", "y", "z", "last"]
    assert said[-2:] == [BACK[-1], stream.ANEW]


def test_one_that_is_another_before_it_has_answered_is_the_one_that_is_watched(
    repo: paths.Place, exchange: Callable[[], None]
) -> None:
    """The number of the first one's last event would say nothing of the second."""
    boards = [lambda: opened(repo), lambda: Breaking(opened(repo), 2, exchange)]
    begun = list[int]()

    def over(seq: int) -> None:
        begun.append(seq)
        raise Over

    with Steady(lambda: boards.pop()(), print) as steady, pytest.raises(Over):
        stream.follow(steady, stream.Wanted(), print, over)

    assert begun == [4]


def test_a_board_that_was_put_back_is_heard_from_there_on(
    repo: paths.Place, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup: what comes now has the numbers of what was there before."""
    monkeypatch.setattr(stream, "LOOK_EVERY", 0.01)
    add(board, "first")
    backup = repo.board + ".backup"
    with closing(sqlite3.connect(repo.board)) as here, closing(sqlite3.connect(backup)) as there:
        here.backup(there)
    add(board, "second")
    add(board, "third")
    board.close()
    said, told, thread = watching(opening.again(repo), 1)
    until(lambda: len(told) == 2)
    for end in ("-wal", "-shm"):
        os.rename(repo.board + end, repo.board + ".old" + end)
    os.rename(backup, repo.board)  # in one step: who finds no file makes one
    until(lambda: any("is as it was earlier" in line for line in said))
    with closing(opened(repo)) as restored:
        add(restored, "last")
    thread.join(60)

    assert told == ["second", "third", "last"]
