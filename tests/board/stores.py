"""The stores that are held to the promises of the board. To add one: an entry here, nothing else."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ibstatus.board import postgres
from ibstatus.board.port import Board
from ibstatus.board.sqlite import store as sqlite
from tests.board import postgres_server


class Store(NamedTuple):
    """`fresh`: the address of an empty board, while a test runs. `opened` is called in other processes, too."""

    fresh: Callable[[Path], AbstractContextManager[str]]
    opened: Callable[[str], Board]


MEMORY = "/dev/shm"  # a sync costs nothing there; test_sqlite.py works on the disk


@contextmanager
def file(folder: Path) -> Iterator[str]:
    where = MEMORY if os.access(MEMORY, os.W_OK) else folder
    with TemporaryDirectory(prefix="ib-board-", dir=where) as made:
        yield f"{made}/board.db"


STORES = {
    "sqlite": Store(file, sqlite.open_board),
    "postgres": Store(lambda _: postgres_server.SERVER.emptied(), postgres.open_board),
}
