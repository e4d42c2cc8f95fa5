"""A repository as the store sees it, without git: what most tests of the store stand in."""

import os
from pathlib import Path

import pytest

from ibstatus.store import home, places


def place_in(root: str) -> places.Place:
    os.mkdir(root + "/.git")
    place = places.Place(root, root + "/.git")
    home.enter(place)
    return place


@pytest.fixture
def place(tmp_path: Path) -> places.Place:
    return place_in(str(tmp_path))
