"""What can be undone: names, order, how long it is kept, and folders that move in one step."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from ibstatus.agents.undo import log
from ibstatus.errors import IbError
from ibstatus.project import home, operations, paths
from ibstatus.system import disk, folders
from tests import faults as fault_seam

NOW = 1_800_000_000.0
DAY = 86400.0


def kept(place: paths.Place, agent: str, at: float, group: str = "", size: int = 0, kind: str = "kill") -> str:
    name = log.reserve(place, agent, at)
    record = log.Record(name, kind, agent, group or name, "user", at, finished=True, size=size)
    log.write(place, record)
    return name


def names(found: list[log.Record]) -> list[str]:
    return [record.name for record in found]


@pytest.fixture
def place(repo: paths.Place) -> paths.Place:
    home.enter(repo)
    return repo


def test_two_of_one_second_have_two_names(place: paths.Place) -> None:
    found = [log.reserve(place, "foo", NOW) for _ in range(3)]

    assert len(set(found)) == 3
    assert found[1] == found[0] + ".2"
    assert all(os.path.isdir(log.folder(place, name)) for name in found)


def test_a_name_out_of_an_older_tool_makes_a_legal_ref(place: paths.Place) -> None:
    assert "/" not in log.reserve(place, "a/../b", NOW)
    assert log.reserve(place, "x.lock", NOW).endswith("x-lock")


def test_newest_first_and_unfinished_ones_are_not_shown(place: paths.Place) -> None:
    old, new = kept(place, "a", NOW - DAY), kept(place, "b", NOW)
    name = log.reserve(place, "c", NOW)
    log.write(place, log.Record(name, "kill", "c", name, "user", NOW))
    Path(log.folder(place, log.reserve(place, "d", NOW)), log.RECORD).write_text("{broken")

    assert names(log.all_of(place)) == [new, old]


def test_choosing(place: paths.Place) -> None:
    first = kept(place, "foo", NOW - 3)
    second = kept(place, "foo-bar", NOW - 2, "g")
    third = kept(place, "other", NOW - 1, "g")

    assert names(log.chosen(place, "")) == [third, second]
    assert names(log.chosen(place, "foo")) == [first]
    assert names(log.chosen(place, "foo-")) == [third, second]
    assert names(log.chosen(place, first)) == [first]
    with pytest.raises(IbError, match="called 'nobody'"):
        log.chosen(place, "nobody")


def test_kept_thirty_days(place: paths.Place) -> None:
    old, new = kept(place, "a", NOW - 31 * DAY), kept(place, "b", NOW - 29 * DAY)

    assert names(log.surplus(place, NOW)) == [old]
    assert new in names(log.all_of(place))


def test_neither_their_number_nor_their_size_breaks_the_promise(place: paths.Place) -> None:
    for number in range(60):
        kept(place, f"n{number}", NOW - number, size=log.LARGEST)

    assert log.surplus(place, NOW) == []
    assert log.relieve(place) == []
    assert len(log.all_of(place)) == 60


def test_a_group_goes_as_a_whole(place: paths.Place) -> None:
    old, new = kept(place, "a", NOW - 31 * DAY, "g"), kept(place, "b", NOW - 29 * DAY, "g")

    assert log.surplus(place, NOW) == []
    assert set(names(log.surplus(place, NOW + 2 * DAY))) == {old, new}


def bulky(place: paths.Place, agent: str, at: float) -> Path:
    """A record whose kept worktree has a big ignored folder, a small ignored file, and one that is not ignored."""
    name = kept(place, agent, at, size=log.LARGEST)
    rest = Path(log.folder(place, name), "rest")
    (rest / "node_modules").mkdir(parents=True)
    (rest / "node_modules" / "blob").write_bytes(b"x" * (2 << 20))
    (rest / ".env").write_text("secret")
    (rest / "film").write_bytes(b"x" * (2 << 20))
    log.note(place, name, [b"node_modules/", b".env"])
    return rest


def test_over_the_limit_the_oldest_loses_what_is_ignored_and_big(place: paths.Place) -> None:
    old, new = bulky(place, "a", NOW - 2), bulky(place, "b", NOW - 1)

    (lost,) = log.relieve(place)

    assert (lost.agent, lost.dropped) == ("a", ["node_modules/"])
    assert lost.size < log.LARGEST
    assert log.read(place, lost.name) == lost
    assert sorted(path.name for path in old.iterdir()) == [".env", "film"]
    assert (new / "node_modules" / "blob").exists()
    assert log.relieve(place) == []


def test_a_repository_in_what_is_ignored_stays(place: paths.Place) -> None:
    old, _ = bulky(place, "a", NOW - 2), bulky(place, "b", NOW - 1)
    (old / "node_modules" / "deep" / ".git").mkdir(parents=True)

    assert log.relieve(place) == []
    assert (old / "node_modules" / "blob").exists()


def test_what_is_being_brought_back_is_not_relieved(place: paths.Place) -> None:
    old, _ = bulky(place, "a", NOW - 2), bulky(place, "b", NOW - 1)

    with operations.begin(place, "undo", "a") as op:
        assert log.relieve(place) == []
    assert log.relieve(place) == []  # cut off, and not yet mended
    op.done()

    assert (old / "node_modules" / "blob").exists()
    assert len(log.relieve(place)) == 1


def test_forgotten_is_gone(place: paths.Place) -> None:
    name = kept(place, "a", NOW)
    os.makedirs(log.folder(place, name) + "/rest/deep")
    os.chmod(log.folder(place, name) + "/rest/deep", 0o500)

    log.forget(place, [name])
    log.forget(place, [name])

    assert folders.names_in(place.safe + "/undo") == []


def test_what_killed_commands_left_is_swept(place: paths.Place) -> None:
    unused, used, young = (log.reserve(place, agent, NOW) for agent in "abc")
    os.mkdir(log.folder(place, used) + "/rest")
    os.mkdir(place.safe + "/undo/.gone-x")
    for name in (unused, used):
        os.utime(log.folder(place, name), (NOW - 2 * DAY, NOW - 2 * DAY))
    os.utime(log.folder(place, young), (NOW, NOW))

    log.sweep(place, NOW)

    assert folders.names_in(place.safe + "/undo") == sorted([used, young])


def tree(root: Path) -> Path:
    source = root / "source"
    (source / "sub").mkdir(parents=True)
    (source / "sub" / "file").write_text("x")
    (source / "sub" / "file").chmod(0o751)
    (source / "link").symlink_to("nowhere")
    os.mkfifo(source / "pipe")
    return source


def test_moved_is_never_over_something(tmp_path: Path) -> None:
    source = tree(tmp_path)
    (tmp_path / "target").mkdir()

    assert folders.move(str(source), str(tmp_path / "target")) == str(tmp_path / "target.2")
    assert folders.move(str(source), str(tmp_path / "target")) == ""
    assert (tmp_path / "target.2" / "sub" / "file").read_text() == "x"


def test_another_file_system_gets_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, real = tree(tmp_path), os.rename

    def rename(one: str, other: str) -> None:
        if one == str(source):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        real(one, other)

    monkeypatch.setattr(disk, "rename", rename)

    target = folders.move(str(source), str(tmp_path / "target"))

    assert not source.exists()
    assert os.stat(target + "/sub/file").st_mode & 0o777 == 0o751
    assert os.readlink(target + "/link") == "nowhere"


def test_a_move_that_fails_anywhere_loses_nothing(tmp_path: Path, faults: fault_seam.Faults) -> None:
    at, done = 0, False
    while not done:
        at += 1
        folder = tmp_path / str(at)
        source = tree(folder)
        faults.arm(at, errno.EIO)
        try:
            folders.move(str(source), str(folder / "away" / "target"))
            done = faults.seen < at
        except OSError:
            done = False
        faults.disarm()
        there = [path for path in (source, folder / "away" / "target") if (path / "sub" / "file").exists()]
        assert len(there) == 1


def test_the_size_counts_no_link_twice(tmp_path: Path) -> None:
    source = tree(tmp_path)
    (source / "loop").symlink_to(source)

    assert 0 < folders.size_of(str(source)) < 1 << 20
    assert folders.size_of(str(tmp_path / "nothing")) == 0


def test_removing_read_only_folders(tmp_path: Path, agent: Callable[..., Path]) -> None:
    source = tree(tmp_path)
    (source / "sub").chmod(0o500)

    folders.remove(str(source))

    assert not source.exists()


def test_a_beginning_that_fits_several_agents_names_them(place: paths.Place) -> None:
    for name in ("foo", "foo-bar"):
        kept(place, name, 1.0)

    assert log.chosen(place, "foo")[0].agent == "foo"
    assert log.chosen(place, "foo-b")[0].agent == "foo-bar"
    with pytest.raises(IbError, match=r"could be foo, foo-bar"):
        log.chosen(place, "fo")


def test_the_newest_is_the_users_own(place: paths.Place) -> None:
    """A manager merges its workers all day; `ib undo` means what the user has done."""
    kept(place, "mine", 1.0)
    name = kept(place, "its", 2.0)
    record = log.read(place, name)
    assert record is not None
    log.write(place, msgspec.structs.replace(record, by="lead"))

    assert log.chosen(place, "")[0].agent == "mine"
    assert log.chosen(place, "its")[0].agent == "its"
