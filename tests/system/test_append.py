"""Appending lines: torn ends of others, replaced files, missing ones."""

import os
import threading
from pathlib import Path

import pytest

from ibstatus.system import append, disk


def test_a_torn_end_is_closed_first(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"torn")
    done = append.append(str(path), b"ours\n")
    assert (done.end, done.inode) == (10, path.stat().st_ino)
    done.sync()
    done.close()
    append.line(str(path), b"more\n")
    assert path.read_bytes() == b"torn\nours\nmore\n"


def test_a_new_file_is_private(tmp_path: Path) -> None:
    append.line(str(tmp_path / "x"), b"one\n")
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o600


def test_guarded_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        append.guarded(str(tmp_path / "x"), b"one\n")
    (tmp_path / "x").write_bytes(b"torn")
    append.guarded(str(tmp_path / "x"), b"one\n").close()
    assert (tmp_path / "x").read_bytes() == b"torn\none\n"


def test_a_file_that_is_replaced_while_waiting(tmp_path: Path) -> None:
    """Who waits for the flock of a file that loses its name writes to the one that has it."""
    path = str(tmp_path / "x")
    fd, _, _ = append.held(path)
    started = threading.Event()

    def write() -> None:
        started.set()
        append.line(path, b"late\n")

    waiting = threading.Thread(target=write)
    waiting.start()
    started.wait()
    os.link(path, path + ".old")
    Path(path + ".new").write_bytes(b"new\n")
    os.replace(path + ".new", path)  # in one step: at no moment is there no file of this name
    os.close(fd)
    waiting.join()
    assert Path(path).read_bytes() == b"new\nlate\n"
    assert Path(path + ".old").read_bytes() == b""


def test_a_short_write_is_taken_back_only_while_it_is_the_tail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"one\n")
    real = disk.write
    calls: list[bytes] = []
    foreign = b""

    def short(fd: int, data: bytes) -> int:
        calls.append(data)
        if len(calls) == 1:
            return real(fd, data[:3])
        with open(path, "ab") as file:
            file.write(foreign)
        raise OSError(28, "No space left on device")

    for text, left in ((b"", b"one\n"), (b"theirs\n", b"one\ntwotheirs\n")):
        foreign = text
        calls.clear()
        monkeypatch.setattr(disk, "write", short)
        with pytest.raises(Exception, match="Could not add to"):
            append.line(str(path), b"two and more\n")
        monkeypatch.undo()
        assert path.read_bytes() == left
    append.line(str(path), b"three\n")
    assert path.read_bytes() == b"one\ntwotheirs\nthree\n"
