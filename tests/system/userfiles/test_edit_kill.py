"""An edit of a user's file is struck at every file operation, while the user saves it: all of their text is there."""

import errno
import os
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ibstatus.errors import IbError
from ibstatus.system import disk
from ibstatus.system.userfiles import displaced, edit, text_merge
from tests import faults as fault_seam
from tests.savers import START, body, kept_files, rewriting
from tests.sweeps import Sweep

LONG_AGO = 1_000_000_000
LATER = 5000.0
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)


class World:
    """A file, what the user saved to it so far, and the edit that is struck."""

    SIZES = "same"
    MAY_KEEP = False  # struck between two swaps, an older save may be kept and reported instead of merged

    def __init__(self, root: Path) -> None:
        root.mkdir()
        self.path = str(root / "CLAUDE.md")
        self.desk = self.path + ".desk"
        self.said = root / "said"
        self.said.touch()
        Path(self.path).write_bytes(START % body(0, 600))
        os.utime(self.path, (LONG_AGO, LONG_AGO))
        self.prepare()

    def prepare(self) -> None:
        pass

    def saves(self) -> list[Callable[[], None]]:
        """What the user does right before the first exchange, the second …"""
        return []

    def change(self, text: bytes) -> Any:
        size = 600 if self.SIZES == "same" else 900
        splice = rewriting(Random(), "same")(text)
        return splice and splice._replace(data=body(7, size))

    def act(self) -> None:
        edit.edit(self.path, self.change, desk=self.desk, patience=0.01)

    def run(self) -> None:
        real, todo = disk.exchange, self.saves()

        def exchange(one: str, other: str) -> None:
            if todo:
                todo.pop(0)()
            real(one, other)

        disk.exchange = exchange  # type: ignore[assignment]
        try:
            self.act()
        finally:
            disk.exchange = real

    def note(self, line: bytes) -> None:
        with open(self.said, "ab") as file:
            file.write(line)

    def text(self) -> bytes:
        return Path(self.path).read_bytes()

    def replace(self, line: bytes) -> Callable[[], None]:
        """As an editor saves: its own buffer, a temp, a rename."""

        def save() -> None:
            Path(self.path + ".swp").write_bytes((START % body(0, 600)) + self.said.read_bytes() + line)
            os.rename(self.path + ".swp", self.path)
            self.note(line)

        return save

    def append(self, line: bytes) -> Callable[[], None]:
        def save() -> None:
            with open(self.path, "ab") as file:
                file.write(line)
            self.note(line)

        return save

    def check(self) -> None:
        """Started again: now, a little later, and much later. All text is there once, and nothing of ours is left."""
        for later in (0.0, 2.0, 4.0, LATER):
            displaced.recover(self.desk, time.time() + later)
        kept = b"".join(Path(path).read_bytes() for path in kept_files(self.path))
        assert not kept or self.MAY_KEEP
        node, text = text_merge.cut(self.text())
        said = self.said.read_bytes().splitlines(True)
        assert [line for line in said if line not in text and line not in kept] == []
        said = [line for line in said if line in text]
        assert node in (self.node(0, 600), self.node(7, 600), self.node(7, 900))
        assert text.splitlines(True) == [*text_merge.cut(START % body(0, 600))[1].splitlines(True), *said]
        left = set(os.listdir(self.desk)) - {"looking"} if os.path.exists(self.desk) else set()
        assert not left or kept
        assert set(os.listdir(Path(self.path).parent)) <= {"CLAUDE.md", "CLAUDE.md.desk", "said", "other"}

    def node(self, number: int, size: int) -> bytes:
        return b"<ittybitty-status>\n" + body(number, size) + b"</ittybitty-status>\n"

    def go_on(self) -> None:
        done = edit.edit(self.path, self.change, desk=self.desk, patience=0.01)
        assert done.how not in ("busy", "gone", "held")
        self.check()


class InPlace(World):
    pass


class Exchange(World):
    SIZES = "other"


class JustSaved(Exchange):
    """A text that was saved this moment may be saved again without another time: its base is kept."""

    def prepare(self) -> None:
        os.utime(self.path)


class WithoutLeases(World):
    def run(self) -> None:
        real = disk.control

        def refuse(*args: Any) -> int:
            raise OSError(errno.EINVAL, "no leases")

        disk.control = refuse  # type: ignore[assignment]
        try:
            super().run()
        finally:
            disk.control = real


class SavedMeanwhile(Exchange):
    def saves(self) -> list[Callable[[], None]]:
        return [self.replace(b"one\n")]


class AppendedMeanwhile(Exchange):
    def saves(self) -> list[Callable[[], None]]:
        return [self.append(b"one\n")]


class SavedTwice(Exchange):
    """Before the names are swapped, and before they are swapped back."""

    MAY_KEEP = True

    def saves(self) -> list[Callable[[], None]]:
        return [self.replace(b"one\n"), self.replace(b"two\n")]


class SavedAndAppended(Exchange):
    MAY_KEEP = True

    def saves(self) -> list[Callable[[], None]]:
        return [self.replace(b"one\n"), self.append(b"two\n")]


class SavedThrice(Exchange):
    MAY_KEEP = True

    def saves(self) -> list[Callable[[], None]]:
        return [self.append(b"one\n"), self.append(b"two\n"), self.replace(b"three\n")]


class Grown(Exchange):
    """A second name: the file cannot be exchanged."""

    def prepare(self) -> None:
        os.link(self.path, Path(self.path).parent / "other")


class Late(Exchange):
    """A program had it open while it was exchanged; struck is the look at it afterwards."""

    MAY_KEEP = True

    def prepare(self) -> None:
        file = open(self.path, "ab")  # noqa: SIM115
        edit.edit(self.path, self.change, desk=self.desk, patience=0.01)
        file.write(b"late\n")
        file.close()
        self.note(b"late\n")

    def act(self) -> None:
        displaced.look(self.desk, time.time())
        displaced.look(self.desk, time.time() + 2)


WORLDS = (
    InPlace,
    Exchange,
    JustSaved,
    WithoutLeases,
    SavedMeanwhile,
    AppendedMeanwhile,
    SavedTwice,
    SavedAndAppended,
    SavedThrice,
    Grown,
    Late,
)


@pytest.fixture(autouse=True)
def no_waiting_for_the_platter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "fsync", os.fstat)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Path]:
    """Thousands of small files: in memory where the system has a place for that, and leases."""
    memory = "/dev/shm"
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def killed(world: World, at: int) -> bool:
    """Run in a child that is killed at its operation `at`; False when it came through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        code = 70
        try:
            seam = fault_seam.Faults()
            seam.arm(at, None)
            world.run()
            code = 0
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


@pytest.mark.sweep
@pytest.mark.parametrize("kind", WORLDS, ids=lambda kind: kind.__name__)
def test_a_kill_at_every_operation(kind: type[World], room: Path) -> None:
    sweep = Sweep(every=8)
    for at in sweep:
        world = kind(room / str(at))
        sweep.tell(killed(world, at))
        try:
            world.check()
            world.go_on()
        except Exception as problem:
            raise AssertionError(f"killed at operation {at}") from problem
    assert sweep.last > 4


@pytest.mark.sweep
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("kind", WORLDS, ids=lambda kind: kind.__name__)
def test_an_error_at_every_operation(kind: type[World], lasting: bool, room: Path, faults: fault_seam.Faults) -> None:
    sweep = Sweep(every=6)
    for at in sweep:
        error = ERRORS[at % len(ERRORS)]
        world = kind(room / str(at))
        faults.arm(at, error, keep=lasting)
        try:
            world.run()
        except (OSError, IbError):
            pass
        sweep.tell(faults.seen >= at)
        step = faults.trace[at - 1] if faults.seen >= at else "nothing"
        faults.disarm()
        try:
            world.check()
            world.go_on()
        except Exception as problem:
            raise AssertionError(f"{errno.errorcode[error]} at {step}, operation {at}") from problem
    assert sweep.last > 4
