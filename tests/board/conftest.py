"""One board for each test and each store; `open_board` opens the same one again, in this process or in a forked one."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ibstatus.board.port import Board
from tests.board import postgres_server
from tests.board.stores import STORES, Store


@pytest.fixture(scope="session", autouse=True)
def end_of_postgres() -> Iterator[None]:
    yield
    postgres_server.SERVER.end()


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> Store:
    return STORES[request.param]


@pytest.fixture
def open_board(store: Store, tmp_path: Path) -> Iterator[Callable[[], Board]]:
    with ExitStack() as stack:
        address = stack.enter_context(store.fresh(tmp_path))

        def opened() -> Board:
            board = store.opened(address)
            stack.callback(board.close)
            return board

        yield opened


@pytest.fixture
def board(open_board: Callable[[], Board]) -> Board:
    return open_board()
