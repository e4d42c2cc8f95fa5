"""What an exchange swapped out, and what a program still wrote to it: merged, or kept and reported, never dropped."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from ibstatus.system import disk
from ibstatus.system.text.splices import Splice
from ibstatus.system.userfiles import displaced, edit, journal, text_merge
from tests.savers import START, body

LONG_AGO = 1_000_000_000


class Person:
    """A program that had the file open while it was exchanged; the clock of the looks is `now`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "CLAUDE.md"
        self.desk = str(folder / "desk")
        self.path.write_bytes(START % body(0, 600))
        os.utime(self.path, (LONG_AGO, LONG_AGO))
        self.file = open(self.path, "r+b", buffering=0)  # noqa: SIM115
        self.exchanges = 0
        self.exchange()
        self.now = time.time()

    def exchange(self, text: bytes = b"") -> None:
        """A node of another size; `text`: what else is changed in front of the file."""

        def change(now: bytes) -> Splice:
            self.exchanges += 1
            end = now.index(b"</ittybitty-status>")
            return Splice(0, end, text + now[: now.index(b"{")] + body(self.exchanges, 700))

        done = edit.edit(str(self.path), change, desk=self.desk, patience=0.01, durable=False)
        assert done.how == "exchanged"

    def write(self, at: int, data: bytes) -> None:
        os.pwrite(self.file.fileno(), data, at)

    def append(self, line: bytes) -> None:
        self.write(self.file.seek(0, os.SEEK_END), line)

    def look(self, later: float = 0.0) -> list[str]:
        self.now += later
        return displaced.look(self.desk, self.now)

    def text(self) -> bytes:
        """What is in the file, without the node."""
        return text_merge.cut(self.path.read_bytes())[1]

    def lies_there(self) -> set[str]:
        return {leaf.partition("-")[0] + Path(leaf).suffix for leaf in os.listdir(self.desk)} - {"looking"}


WHOLE = text_merge.cut(START % body(0, 600))[1]


@pytest.fixture
def person(tmp_path: Path) -> Any:
    person = Person(tmp_path)
    yield person
    person.file.close()


def test_it_stays_as_long_as_somebody_may_write_to_it(person: Person) -> None:
    for later in (0.02, 1, 100, 1000):
        assert person.look(later) == []
        assert displaced.pending(person.desk)
    person.file.close()
    assert person.look() == []
    assert not displaced.pending(person.desk)
    assert person.lies_there() == set()


def test_who_only_reads_does_not_hold_it(person: Person) -> None:
    only_reads = os.open(f"/proc/self/fd/{person.file.fileno()}", os.O_RDONLY)
    person.file.close()
    person.look(2)
    os.close(only_reads)
    assert person.lies_there() == set()


def test_an_open_that_is_just_under_way_has_a_second(person: Person) -> None:
    person.file.close()
    person.look(0.02)
    assert displaced.pending(person.desk)
    person.look(1)
    assert not displaced.pending(person.desk)


def test_a_late_write_is_merged(person: Person) -> None:
    person.append(b"late\n")
    person.file.close()

    assert person.look() == []

    assert person.text() == WHOLE + b"late\n"
    assert b'"n": 1' in person.path.read_bytes(), "the node is the newest"
    assert person.look(2) == person.look(2) == []
    assert person.lies_there() == set()


def test_a_late_write_is_merged_with_what_came_since(person: Person) -> None:
    person.append(b"late\n")
    person.file.close()
    person.path.write_bytes(b"top\n" + person.path.read_bytes())

    assert person.look() == []

    assert person.text() == b"top\n" + WHOLE + b"late\n"


def test_one_that_writes_again_and_again_and_never_closes(person: Person) -> None:
    for number in range(3):
        person.append(b"late %d\n" % number)
        assert displaced.look(person.desk, time.time()) == []
        assert b"late %d" % number not in person.text(), "it may be half of a save"
        person.look(2)
        assert person.text() == WHOLE + b"".join(b"late %d\n" % n for n in range(number + 1))
    person.file.close()
    person.look(5)
    person.look(5)
    assert person.lies_there() == set()


def test_one_that_has_emptied_it_and_not_written_yet(person: Person) -> None:
    person.file.truncate(0)
    person.look(100)
    assert person.text() == WHOLE
    person.append(WHOLE + b"and more\n")
    person.look(100)
    assert person.text() == WHOLE + b"and more\n"


def test_a_conflict_is_kept_and_reported(person: Person) -> None:
    person.write(0, b"! Project")
    person.file.close()
    person.path.write_bytes(person.path.read_bytes().replace(b"# Project", b"## Mine"))

    told = person.look()

    assert len(told) == 1
    kept = told[0].rpartition(" ")[2]
    assert str(person.path) in told[0]
    assert Path(kept).read_bytes().startswith(b"! Project\n")
    assert person.path.read_bytes().startswith(b"## Mine\n")
    assert not displaced.pending(person.desk)
    assert displaced.kept(person.desk) == told
    assert displaced.recover(person.desk, person.now + 1e7) == []
    assert displaced.kept(person.desk) == told, "a person's text is never removed"

    os.unlink(kept)
    displaced.recover(person.desk, person.now + 1e7)
    assert displaced.kept(person.desk) == []
    assert person.lies_there() == set()


def test_the_file_is_gone_meanwhile(person: Person) -> None:
    person.append(b"late\n")
    person.file.close()
    person.path.unlink()

    (told,) = person.look()

    assert Path(told.rpartition(" ")[2]).read_bytes().endswith(b"late\n")
    assert not person.path.exists()


def test_two_in_a_row(person: Person) -> None:
    """Each displaced file has its own base; both late writes come home."""
    with open(person.path, "r+b", buffering=0) as second:
        person.exchange(b"x")
        person.append(b"first\n")
        second.seek(0, os.SEEK_END)
        second.write(b"second\n")
    person.file.close()

    assert person.look() == []

    assert sorted(person.text().splitlines()) == sorted((b"x" + WHOLE + b"first\nsecond\n").splitlines())


def test_only_one_looks_at_a_time(person: Person) -> None:
    from ibstatus.system import locks

    person.append(b"late\n")
    person.file.close()
    with locks.Lock(person.desk + "/looking"):
        assert person.look(2) == []
        assert person.text() == WHOLE
    person.look()
    assert person.text() == WHOLE + b"late\n"


def test_an_exchange_that_slept_before_it_took_place(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look hours later takes its temp for a leftover, in the moment in which the names are swapped."""
    person.file.close()
    person.look(2)
    real_exchange, real_rename = disk.exchange, disk.rename
    swaps: list[tuple[str, str]] = []

    def sleeping(one: str, other: str) -> None:
        swaps.append((one, other))

        def rename(old: str, new: str) -> None:
            if old == one and swaps:
                person.path.write_bytes(START % body(0, 600) + b"saved\n")
                real_exchange(*swaps.pop())
            real_rename(old, new)

        monkeypatch.setattr(disk, "exchange", real_exchange)
        monkeypatch.setattr(disk, "rename", rename)
        person.look(100)
        assert swaps == []

    monkeypatch.setattr(disk, "exchange", sleeping)
    person.exchange(b"x")
    for later in (0, 2, 2):
        person.look(later)
    assert person.text() == b"x" + WHOLE + b"saved\n"


@pytest.mark.parametrize("cut", [0, 1, 511, 512, 513, 900, 1500])
@pytest.mark.parametrize("sizes", [(1600, 1200), (1200, 1600)], ids=["shorter", "longer"])
def test_a_torn_resize_is_completed(tmp_path: Path, sizes: tuple[int, int], cut: int) -> None:
    before, after = START % body(3, sizes[0]) + b"the end\n", START % body(4, sizes[1]) + b"the end\n"
    path, desk = tmp_path / "f", str(tmp_path / "desk")
    path.write_bytes(after[:cut] + before[min(cut, len(after)) :])
    journal.begin(desk, str(path), path.stat().st_ino, before, after)

    assert displaced.recover(desk) == []

    assert path.read_bytes() in ((before,) if cut == 0 else (after,) if cut > 100 else (before, after))
    assert os.listdir(desk) == []


@pytest.mark.parametrize("what", ["saved", "replaced", "gone", "open"])
def test_a_resize_that_cannot_be_judged_is_kept(tmp_path: Path, what: str) -> None:
    before, after = START % body(3, 1600), START % body(4, 1200)
    path, desk = tmp_path / "f", str(tmp_path / "desk")
    path.write_bytes(after[:700] + before[700:])
    journal.begin(desk, str(path), path.stat().st_ino, before, after)
    if what == "saved":
        path.write_bytes(before + b"mine\n")
    elif what == "replaced":
        path.rename(tmp_path / "backup")
        path.write_bytes(after[:600] + before[600:])
    elif what == "gone":
        path.unlink()
    reader = open(path, "rb") if what == "open" else None  # noqa: SIM115
    now = path.read_bytes() if path.exists() else None

    (told,) = displaced.recover(desk)

    assert str(path) in told
    assert now == (path.read_bytes() if path.exists() else None)
    assert len(os.listdir(desk)) == 1
    if reader is not None:
        reader.close()
        assert displaced.recover(desk) == []
        assert path.read_bytes() == after


def test_leftovers_without_a_record_go_when_they_are_old(tmp_path: Path) -> None:
    for leaf in ("displaced-1", "displaced-1.base", "displaced-2.going", ".displaced-3.json.1.2.ib-tmp", "other"):
        (tmp_path / leaf).write_bytes(b"x")
        os.utime(tmp_path / leaf, (LONG_AGO, LONG_AGO))
    displaced.recover(str(tmp_path), time.time() + 10)
    assert len(os.listdir(tmp_path)) == 4, "a temp of ours has its own time, the others that of the user's file"
    displaced.recover(str(tmp_path), time.time() + 4000)
    assert os.listdir(tmp_path) == ["other"]
