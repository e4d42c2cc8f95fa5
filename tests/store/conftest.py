"""A repository as the store sees it, without git: what most tests of the store stand in."""

import os
from pathlib import Path

import pytest

from ibstatus.project import home, paths


def place_in(root: str) -> paths.Place:
    os.mkdir(root + "/.git")
    place = paths.Place(root, root + "/.git")
    home.enter(place)
    return place


@pytest.fixture
def place(tmp_path: Path) -> paths.Place:
    return place_in(str(tmp_path))
