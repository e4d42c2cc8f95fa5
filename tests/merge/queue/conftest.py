"""A board of this repository, where one is asked for."""

from collections.abc import Iterator

import pytest

from ibstatus.board.port import Board
from ibstatus.project import paths
from tests.queuework import opened


@pytest.fixture
def board(repo: paths.Place) -> Iterator[Board]:
    found = opened(repo)
    yield found
    found.close()
