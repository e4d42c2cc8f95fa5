"""The board as its commands show it, on each store."""

from collections.abc import Iterator

import pytest

from ibstatus.project import paths
from tests.board import postgres_server
from tests.board.stores import STORES
from tests.cli.board_faces import Faces, faces_of


@pytest.fixture(scope="session", autouse=True)
def end_of_postgres() -> Iterator[None]:
    yield
    postgres_server.SERVER.end()


@pytest.fixture(params=STORES)
def board(request: pytest.FixtureRequest, repo: paths.Place) -> Iterator[Faces]:
    with faces_of(repo, request.param) as faces:
        yield faces


@pytest.fixture
def file_board(repo: paths.Place) -> Faces:
    """Where the store makes no difference."""
    return Faces(repo, {})
