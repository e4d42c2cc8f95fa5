"""Replacing a file: symlinks, modes, leftovers. What fails or is killed on the way is in test_kill.py."""

import os
from pathlib import Path

import pytest

from ibstatus.mail import messages, post
from ibstatus.project import home, paths
from ibstatus.system import atomic, disk
from tests.faults import Faults


def test_mode_is_kept_and_a_new_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "x"
    atomic.replace(str(path), b"one")
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    atomic.replace(str(path), b"two")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"two", 0o644)
    assert os.listdir(tmp_path) == ["x"]


def test_a_chain_of_links_survives(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "file").write_bytes(b"one")
    (tmp_path / "b").symlink_to("far/c")
    (tmp_path / "far" / "c").symlink_to(tmp_path / "far" / "file")
    atomic.replace(str(tmp_path / "b"), b"two")
    assert (tmp_path / "far" / "file").read_bytes() == b"two"
    assert (tmp_path / "b").is_symlink()
    assert (tmp_path / "far" / "c").is_symlink()


def test_a_dangling_link_gets_its_file(tmp_path: Path) -> None:
    (tmp_path / "b").symlink_to("file")
    atomic.replace(str(tmp_path / "b"), b"one")
    assert (tmp_path / "file").read_bytes() == b"one"


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        atomic.replace(str(tmp_path / "a"), b"x")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_link_that_cannot_be_read_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"one")
    (tmp_path / "b").symlink_to("file")

    def broken(path: str) -> str:
        raise OSError(5, "Input/output error", path)

    monkeypatch.setattr(disk, "readlink", broken)
    with pytest.raises(OSError, match="Input/output"):
        atomic.replace(str(tmp_path / "b"), b"two")
    assert (tmp_path / "b").is_symlink()


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        atomic.replace(str(tmp_path / "no" / "x"), b"x")


def test_sweep_takes_only_old_leftovers(tmp_path: Path) -> None:
    for name, age in ((".x.1.2.ib-tmp", 2 * atomic.STALE_AFTER), (".y.1.2.ib-tmp", 10), ("z", 2 * atomic.STALE_AFTER)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1_000_000 - age, 1_000_000 - age))
    assert atomic.sweep(str(tmp_path), 1_000_000) == 1
    assert sorted(os.listdir(tmp_path)) == [".y.1.2.ib-tmp", "z"]


def test_two_links_to_the_same_file_part(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"one")
    os.link(tmp_path / "x", tmp_path / "copy")
    atomic.replace(str(tmp_path / "x"), b"two")
    assert (tmp_path / "copy").read_bytes() == b"one"


def test_nothing_is_promised_before_it_is_synced(repo: paths.Place, faults: Faults) -> None:
    """After the last write to a file of a promise comes a sync: of the array, of the queue."""
    home.enter(repo)
    messages.send(repo, "cli", "a", True, "question", "first", 1.0)
    faults.arm(10_000, 5)
    messages.send(repo, "cli", "a", True, "question", "second", 2.0)
    stored = faults.trace
    faults.arm(10_000, 5)
    post.notify(repo, "cli", "complete", "a", True, "third", 3.0)
    noticed = faults.trace
    faults.disarm()

    assert stored.count("rename") == 3
    for at, name in enumerate(stored):
        if name == "rename":
            assert "fsync" in stored[:at][-3:], "renamed before its bytes were safe"
    assert "fdatasync" in noticed[noticed.index("write") :]


def test_a_save_by_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("theirs")

    assert not atomic.replace(str(path), b"ours", lambda: path.read_text() == "read before")
    assert path.read_text() == "theirs"
    assert os.listdir(tmp_path) == ["x"]
