"""Editing a file of the user: each way, every other byte, and what is left alone."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ibstatus.errors import DiskError
from ibstatus.system import disk, leases
from ibstatus.system.text.splices import Splice
from ibstatus.system.userfiles import displaced
from ibstatus.system.userfiles import edit as user_file
from tests.until import until

LEASES = disk.F_SETLEASE >= 0
LONG_AGO = 1_000_000_000_123_456_789
TEXTS = {
    "lf": b"before\nNODE\nafter\n",
    "crlf": b"before\r\nNODE\r\nafter\r\n",
    "bom": b"\xef\xbb\xbfNODE\n",
    "no-final-newline": b"a\nNODE",
    "nul": b"\0\0\nNODE\n\0",
    "not-utf8": b"\xff\xfe\x80\nNODE\n\xc3",
    "megabyte": b"x" * (1 << 19) + b"\nNODE\n" + b"y" * (1 << 19),
    "nothing-else": b"NODE",
}


def turned(new: bytes, old: bytes = b"NODE") -> Callable[[bytes], Splice | None]:
    def change(text: bytes) -> Splice | None:
        at = text.find(old)
        return None if at < 0 else Splice(at, at + len(old), new)

    return change


class File:
    """A user's file, long at rest."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "CLAUDE.md"
        self.desk = str(folder / "desk")
        self.put(TEXTS["lf"])

    def put(self, text: bytes) -> None:
        self.path.write_bytes(text)
        os.utime(self.path, ns=(LONG_AGO, LONG_AGO))

    def edit(self, new: bytes, **words: Any) -> user_file.Edited:
        words = {"patience": 0.05, "durable": False, **words}
        return user_file.edit(str(self.path), turned(new), desk=self.desk, **words)

    def desk_is_clean(self) -> bool:
        displaced.look(self.desk, time.time() + 2)
        return not os.path.exists(self.desk) or set(os.listdir(self.desk)) <= {"looking"}


@pytest.fixture
def file(tmp_path: Path) -> File:
    return File(tmp_path)


@pytest.fixture
def no_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any) -> int:
        raise OSError(errno.EINVAL, "no leases here")

    monkeypatch.setattr(disk, "control", refuse)


@pytest.fixture
def no_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any) -> None:
        raise OSError(errno.EINVAL, "no exchange here")

    monkeypatch.setattr(disk, "exchange", refuse)


@pytest.mark.parametrize("new", [b"node", b"longer node", b""], ids=["same", "longer", "gone"])
@pytest.mark.parametrize("name", TEXTS)
def test_every_other_byte_stays(file: File, name: str, new: bytes) -> None:
    text = TEXTS[name]
    file.put(text)
    file.path.chmod(0o640)
    before = file.path.stat()

    done = file.edit(new)

    after = file.path.stat()
    assert done.how == ("in place" if len(new) == 4 else "exchanged")
    assert done.resized == (len(new) != 4)
    assert file.path.read_bytes() == text.replace(b"NODE", new)
    assert (after.st_mode, after.st_uid, after.st_mtime_ns) == (before.st_mode, before.st_uid, LONG_AGO)
    assert (after.st_ino == before.st_ino) == (len(new) == 4)
    assert file.desk_is_clean()


def test_only_the_bytes_that_differ_are_written(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []

    def pwrite(fd: int, data: bytes, at: int) -> int:
        written.append((data, at))
        return os.pwrite(fd, data, at)

    monkeypatch.setattr(disk, "pwrite", pwrite)

    assert file.edit(b"NoDE").how == "in place"
    assert written == [(b"o", 8)]


@pytest.mark.parametrize("new", [b"node", b"longer"])
def test_attributes_and_group_are_kept(file: File, new: bytes) -> None:
    try:
        os.setxattr(file.path, "user.note", b"mine")
    except OSError:
        pytest.skip("no extended attributes here")
    if os.geteuid() == 0:
        os.chown(file.path, 1234, 4321)
    file.path.chmod(0o664)
    before = file.path.stat()

    file.edit(new)

    after = file.path.stat()
    assert os.getxattr(file.path, "user.note") == b"mine"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


@pytest.mark.parametrize("new", [b"NODE", None])
def test_nothing_to_do_is_no_write(file: File, new: bytes | None, faults: Any) -> None:
    faults.arm(0, errno.EIO)
    done = user_file.edit(str(file.path), turned(new) if new else lambda text: None, desk=file.desk)
    faults.disarm()

    assert done == user_file.Edited("same")
    assert not {"write", "pwrite", "rename", "exchange", "utime", "fsync"} & set(faults.trace)
    assert not os.path.exists(file.desk)


@pytest.mark.parametrize("new", [b"node", b"longer"])
def test_a_link_is_followed_and_stays(file: File, new: bytes) -> None:
    file.path.rename(file.path.parent / "AGENTS.md")
    file.path.symlink_to("AGENTS.md")

    file.edit(new)

    assert os.readlink(file.path) == "AGENTS.md"
    assert (file.path.parent / "AGENTS.md").read_bytes() == TEXTS["lf"].replace(b"NODE", new)
    assert file.desk_is_clean()


@pytest.mark.parametrize("new", [b"node", b"longer"])
def test_a_second_name_stays_the_same_file(file: File, new: bytes) -> None:
    os.link(file.path, file.path.parent / "other")

    assert file.edit(new).how == ("in place" if new == b"node" else "grown in place")

    assert os.path.samefile(file.path, file.path.parent / "other")
    assert file.path.read_bytes() == TEXTS["lf"].replace(b"NODE", new)
    assert file.path.stat().st_mtime_ns == LONG_AGO
    assert file.desk_is_clean()


def test_a_second_name_is_not_resized_behind_peoples_backs(file: File) -> None:
    os.link(file.path, file.path.parent / "other")

    done = file.edit(b"longer", may_resize=False)

    assert (done.how, "hard link" in done.note) == ("busy", True)
    assert file.path.read_bytes() == TEXTS["lf"]


@pytest.mark.usefixtures("no_leases")
@pytest.mark.parametrize("new", [b"node", b"longer"])
def test_without_leases_it_is_exchanged(file: File, new: bytes) -> None:
    assert file.edit(new).how == "exchanged"
    assert file.path.read_bytes() == TEXTS["lf"].replace(b"NODE", new)
    displaced.look(file.desk, time.time() + 100)
    assert displaced.pending(file.desk), "nobody can know that it is not open"
    displaced.look(file.desk, time.time() + 2 * displaced.FORGOTTEN)
    assert not displaced.pending(file.desk)


@pytest.mark.usefixtures("no_exchange")
def test_without_exchange_it_grows_in_place(file: File) -> None:
    assert file.edit(b"longer").how == "grown in place"
    assert file.edit(b"x", may_resize=False).how == "same"
    assert file.path.read_bytes() == TEXTS["lf"].replace(b"NODE", b"longer")
    assert file.desk_is_clean()


@pytest.mark.usefixtures("no_exchange", "no_leases")
def test_with_neither_only_a_person_replaces_it(file: File) -> None:
    done = file.edit(b"longer", may_resize=False)
    assert done.how == "busy"
    assert file.path.read_bytes() == TEXTS["lf"]

    assert file.edit(b"longer").how == "replaced"
    assert file.path.read_bytes() == TEXTS["lf"].replace(b"NODE", b"longer")


@pytest.mark.usefixtures("no_leases")
def test_a_second_name_without_leases_is_left_alone(file: File) -> None:
    os.link(file.path, file.path.parent / "other")
    assert file.edit(b"node").how == "busy"
    assert file.path.read_bytes() == TEXTS["lf"]


def test_a_file_that_is_open_is_exchanged_after_a_while(file: File) -> None:
    with open(file.path, "rb"):
        assert file.edit(b"node").how == "exchanged"
    assert file.path.read_bytes() == TEXTS["lf"].replace(b"NODE", b"node")
    assert file.desk_is_clean()


@pytest.mark.parametrize("new", [b"node", b"longer"])
def test_not_now(file: File, new: bytes) -> None:
    assert file.edit(new, now_ok=lambda: False).how == "held"
    assert file.path.read_bytes() == TEXTS["lf"]
    assert file.desk_is_clean()
    assert file.edit(new, now_ok=lambda: True).how != "held"


def test_what_change_raises_passes_through(file: File) -> None:
    class Refused(Exception):
        pass

    def change(text: bytes) -> Splice | None:
        raise Refused

    for held in (False, True):
        with pytest.raises(Refused), open(file.path if held else os.devnull, "rb"):
            user_file.edit(str(file.path), change, desk=file.desk, patience=0.01)
    assert file.path.read_bytes() == TEXTS["lf"]


def test_half_a_save_is_not_judged(file: File) -> None:
    """The text makes no sense to `change`, and the program that is writing it has not finished."""
    seen = []

    def change(text: bytes) -> Splice | None:
        seen.append(text)
        if not text.endswith(b"after\n"):
            person.write(TEXTS["lf"][len(text) :])
            person.flush()
            raise ValueError("half")
        return turned(b"longer")(text)

    file.put(TEXTS["lf"][:6])
    with open(file.path, "ab") as person:
        done = user_file.edit(str(file.path), change, desk=file.desk, patience=0.01)

    assert done.how == "exchanged"
    assert file.path.read_bytes() == TEXTS["lf"].replace(b"NODE", b"longer")


def test_a_read_only_file_is_left_alone(file: File) -> None:
    file.path.chmod(0o444)

    done = file.edit(b"node")

    assert (done.how, "read-only" in done.note) == ("busy", True)
    assert file.edit(b"NODE").how == "same"
    assert file.path.read_bytes() == TEXTS["lf"]


def test_what_is_no_file(file: File, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "to-folder").symlink_to("folder")
    (tmp_path / "folder").mkdir()
    for name, how in (
        ("fifo", "busy"),
        ("folder", "busy"),
        ("to-folder", "busy"),
        ("dangling", "gone"),
        ("none", "gone"),
        ("CLAUDE.md/x", "gone"),
    ):
        done = user_file.edit(str(tmp_path / name), turned(b"node"), desk=file.desk)
        assert done.how == how, name
    assert not (tmp_path / "nowhere").exists()


def test_a_full_disk_is_an_error_and_nothing_is_left(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk, "write", write)
    with pytest.raises(DiskError, match="Could not change"):
        file.edit(b"longer")
    assert file.path.read_bytes() == TEXTS["lf"]
    assert os.listdir(file.desk) == []


def test_a_link_put_in_its_place_is_put_back(file: File, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the last look and the exchange; the file behind the link is not touched."""
    real = disk.exchange
    (tmp_path / "far").write_bytes(b"far NODE\n")

    def exchange(one: str, other: str) -> None:
        monkeypatch.setattr(disk, "exchange", real)
        (tmp_path / "link").symlink_to("far")
        os.rename(tmp_path / "link", file.path)
        real(one, other)

    monkeypatch.setattr(disk, "exchange", exchange)

    assert file.edit(b"longer").how == "exchanged"
    assert os.readlink(file.path) == "far"
    assert (tmp_path / "far").read_bytes() == b"far longer\n"


def test_a_file_that_goes_away_meanwhile(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    real = disk.exchange

    def exchange(one: str, other: str) -> None:
        file.path.unlink(missing_ok=True)
        real(one, other)

    monkeypatch.setattr(disk, "exchange", exchange)

    assert file.edit(b"longer").how == "gone"
    assert os.listdir(file.desk) == []


def test_another_file_system_for_the_desk(file: File) -> None:
    """The new file then lies beside the old one."""
    if not os.access("/dev/shm", os.W_OK) or os.stat("/dev/shm").st_dev == file.path.stat().st_dev:
        pytest.skip("there is no second file system here")
    file.desk = f"/dev/shm/ib-test-{os.getpid()}"
    try:
        assert file.edit(b"longer").how == "exchanged"
        assert len(os.listdir(file.path.parent)) == 2
        assert file.desk_is_clean()
        assert os.listdir(file.path.parent) == ["CLAUDE.md"]
        assert file.path.read_bytes() == TEXTS["lf"].replace(b"NODE", b"longer")
    finally:
        shutil.rmtree(file.desk)


def is_waited_for() -> bool:
    """For a lease of ours: those of other processes are broken at the same time."""
    mine = f" {os.getpid()} "
    return any("BREAKING" in line and mine in line for line in Path("/proc/locks").read_text().splitlines())


@pytest.mark.skipif(not LEASES, reason="no leases here")
def test_who_opens_it_under_a_lease_waits_and_we_live(file: File) -> None:
    """The kernel's signal to the holder of a lease kills a process that did not expect it."""
    opened: list[bytes] = []
    person = threading.Thread(target=lambda: opened.append(file.path.read_bytes()))

    def change(text: bytes) -> Splice | None:
        if not opened and not person.is_alive():
            person.start()
            until(is_waited_for)
            assert opened == []
        return turned(b"node")(text)

    done = user_file.edit(str(file.path), change, desk=file.desk, patience=5)
    person.join()

    assert done.how == "in place"
    assert opened == [TEXTS["lf"]], "the opener came first, and the edit was made anew"
    assert signal.getsignal(signal.SIGIO) == signal.SIG_DFL


@pytest.mark.skipif(not LEASES, reason="no leases here")
def test_reading_waits_for_a_lease(file: File) -> None:
    fd = os.open(file.path, os.O_RDWR)
    try:
        assert leases.take(fd) == leases.GRANTED
        with pytest.raises(BlockingIOError):
            user_file.read(str(file.path), patience=0.01)
        letting_go = threading.Timer(0.05, leases.drop, [fd])
        letting_go.start()
        assert user_file.read(str(file.path), patience=20) == TEXTS["lf"]
        letting_go.join()
    finally:
        os.close(fd)


MOUNTED = """
import json, sys
from tests.system.userfiles.test_edit import File, TEXTS
from pathlib import Path
file = File.__new__(File); file.path = Path(sys.argv[1]); file.desk = sys.argv[2]
hows = [file.edit(new, may_resize=resize).how for new, resize in ((b"node", False), (b"NODE", False))]
file.put(TEXTS["lf"])
hows.append(file.edit(b"longer", may_resize=False).how)
hows.append(file.edit(b"longer", may_resize=True).how)
print(json.dumps(hows))
"""


def test_a_mounted_file(file: File) -> None:
    """A bind mount on the file itself: in place only, and resized only when a person waits."""
    if not can_mount():
        pytest.skip("no name spaces for mounts here")
    shell = 'mount --bind "$1" "$1" && exec "$0" -c "$3" "$1" "$2"'
    argv = ["unshare", "-m", "sh", "-c", shell, sys.executable, str(file.path), file.desk, MOUNTED]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)

    assert done.stdout == '["in place", "same", "busy", "grown in place"]\n', done.stderr
    assert file.path.read_bytes() == TEXTS["lf"].replace(b"NODE", b"longer")


def can_mount() -> bool:
    shell = "mount --bind /bin /bin"
    return (
        bool(shutil.which("unshare"))
        and not subprocess.run(["unshare", "-m", "sh", "-c", shell], check=False).returncode
    )
