"""Consumers of the stream as they come: listen, look, wait, and open the board anew when it is gone."""

import threading
from contextlib import closing
from typing import Any

import psycopg

from ibstatus.board import postgres
from ibstatus.board.port import Board, Gone
from ibstatus.model.board import NewTask


class Follower(threading.Thread):
    """Reads all events until `until_seq` is set and reached. `seen` is what it was told, in that order."""

    def __init__(self, dsn: str) -> None:
        super().__init__(daemon=True)
        self.dsn = dsn
        self.seen: list[int] = []
        self.reopened = 0
        self.until_seq: int | None = None

    def run(self) -> None:
        while not self.is_over():
            try:
                with closing(postgres.open_board(self.dsn)) as board:
                    self.follow(board)
            except Gone:
                self.reopened += 1

    def follow(self, board: Board) -> None:
        with closing(board.doorbell()) as bell:
            while not self.is_over():
                news = board.events(self.seen[-1] if self.seen else 0, 200)
                self.seen += [event.seq for event in news]
                if not news:
                    bell.wait(0.5)

    def is_over(self) -> bool:
        return self.until_seq is not None and bool(self.seen) and self.seen[-1] >= self.until_seq


class Writer(threading.Thread):
    """Adds so many tasks; what a broken connection left in doubt it looks up."""

    def __init__(self, dsn: str, name: str, count: int) -> None:
        super().__init__(daemon=True)
        self.dsn = dsn
        self.todo = [f"{name}-{number}" for number in range(count)][::-1]
        self.reopened = 0

    def run(self) -> None:
        while self.todo:
            try:
                with closing(postgres.open_board(self.dsn)) as board:
                    self.write(board)
            except Gone:
                self.reopened += 1

    def write(self, board: Board) -> None:
        while self.todo:
            if not board.ids(self.todo[-1]):
                board.add(NewTask(self.todo[-1], "One of many"))
            self.todo.pop()


def cut_off(user: "psycopg.Connection[Any]") -> int:
    """Ends every connection of ib to the user's database, whatever it is doing; how many there were."""
    ended = user.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'ib' AND pid <> pg_backend_pid()"
    )
    return len(ended.fetchall())


def fill(dsn: str, count: int) -> None:
    """So many ready tasks, from a program that knows nothing of ib."""
    with closing(psycopg.connect(dsn, autocommit=True)) as psql:
        psql.execute(
            "INSERT INTO ib_board.tasks (id, title, status, max_attempts, given_attempts)"
            " SELECT 'task-' || n, 'One of many', 'ready', 1000, 1000 FROM generate_series(1, %s::integer) n",
            (count,),
        )
