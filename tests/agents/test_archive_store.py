"""The archive: whole or not at all, never over another, no links followed."""

import errno
import os
from pathlib import Path

import pytest

from ibstatus.agents import archive
from ibstatus.project import home, paths
from tests import faults as fault_seam
from tests.conftest import make_agent

NOW = 1_800_000_000.0


@pytest.fixture
def place(repo: paths.Place) -> paths.Place:
    home.enter(repo)
    make_agent(repo, "foo")
    Path(repo.agent_dir("foo"), "agent.log").write_text("it began\n")
    return repo


def test_what_is_in_it(place: paths.Place) -> None:
    folder = Path(place.agent_dir("foo"))
    (folder / "token").write_text("secret")
    (folder / "prompt.txt").symlink_to("/etc/passwd")

    path = archive.write_archive(place, "foo", archive.name_for(place, "foo", NOW), {"output.log": b"said"}, {})

    assert sorted(os.listdir(path)) == ["agent.log", "meta.json", "output.log"]
    assert os.stat(path).st_mode & 0o077 == 0
    assert Path(path, "output.log").read_bytes() == b"said"


def test_once_more_is_fine_and_another_one_gets_its_own(place: paths.Place) -> None:
    path = archive.name_for(place, "foo", NOW)
    assert archive.write_archive(place, "foo", path, {}, {}) == path
    assert archive.write_archive(place, "foo", path, {"late": b"x"}, {}) == path
    assert "late" not in os.listdir(path)
    other = archive.name_for(place, "foo", NOW)
    assert other == path + ".2"


def test_a_fault_anywhere_leaves_none_or_all_of_it(place: paths.Place, faults: fault_seam.Faults) -> None:
    at, done = 0, False
    while not done:
        at += 1
        path = f"{place.home}/archive/20270101-000000-foo{at}"
        faults.arm(at, errno.ENOSPC)
        try:
            archive.write_archive(place, "foo", path, {"output.log": b"said"}, {})
            done = faults.seen < at
        except OSError:
            done = False
        faults.disarm()
        if os.path.exists(path):
            assert sorted(os.listdir(path))[-1] == "output.log"
        assert archive.write_archive(place, "foo", path, {"output.log": b"said"}, {}) == path
        assert "agent.log" in os.listdir(path)
    assert not [leaf for leaf in os.listdir(place.home + "/archive") if leaf.endswith(".ib-tmp")]


def test_what_is_older_than_thirty_days(place: paths.Place) -> None:
    old, new = (archive.name_for(place, "foo", NOW - days * 86400) for days in (31, 29))
    for path in (old, new, place.home + "/archive/of-mine"):
        os.makedirs(path)

    assert archive.expired(place, NOW, 30) == [os.path.basename(old)]
