"""The supervisor hears of changes also in folders that were taken away and came again."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ibstatus.project import home, logs, paths
from ibstatus.supervisor.watch_files import Watching
from tests.patience import LONG


@pytest.fixture
def watching(repo: paths.Place) -> Iterator[Watching]:
    home.enter(repo)
    found = Watching(repo)
    yield found
    found.close()


def quiet(watching: Watching) -> None:
    while watching.wait(0.3):
        watching.follow()


def test_a_home_that_is_cleaned_away_and_made_again(repo: paths.Place, watching: Watching) -> None:
    quiet(watching)
    shutil.rmtree(repo.home)
    assert watching.wait(LONG)

    quiet(watching)
    home.enter(repo)
    assert watching.wait(LONG)
    watching.follow()

    quiet(watching)
    logs.note(repo, "w", 1.0, {"kind": "agent.state", "who": "w", "state": "running"})
    assert watching.wait(LONG)


def test_that_there_is_something_new_to_watch_is_said(repo: paths.Place, watching: Watching) -> None:
    assert not watching.follow()
    Path(repo.home, "agents").mkdir()

    assert watching.follow()
    assert not watching.follow()


def test_what_we_write_ourselves_wakes_nobody(repo: paths.Place, watching: Watching) -> None:
    quiet(watching)
    for number in range(20):
        Path(repo.home, "new").write_text(str(number))
        Path(repo.home, "new").rename(repo.home + "/status.json")

    assert not watching.wait(0.5)
