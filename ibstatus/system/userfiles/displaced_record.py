"""One exchange as it lies on the desk: the inode that was swapped out, its record, the text that it is based on.

`displaced-<n>` is the temp before the exchange and the displaced file after it, `.json` says what is what; `.base` is
written when somebody may still write to the displaced file, so that what they write can be merged.
"""

import time
from base64 import b64decode, b64encode
from typing import NamedTuple

from ibstatus.system import atomic, disk, jsonl, leases
from ibstatus.system.text.splices import Splice, applied

MARK = "displaced-"
KEPT = "kept-"
FLAGS = disk.O_RDONLY | disk.O_NOFOLLOW | disk.O_NONBLOCK | disk.O_CLOEXEC
PIECE = 1 << 16
PATIENCE, PAUSE = 2.0, 0.001


class Stamp(NamedTuple):
    """What tells a file that nobody wrote to."""

    inode: int
    size: int
    mtime: int


UNFINISHED = Stamp(0, 0, 0)  # the new file was not complete yet
OUT_AGAIN = Stamp(-1, 0, 0)  # the new file had the name for a moment, and is now the displaced one


class Displacement(NamedTuple):
    """`base` was on the name, `new` took its place; `undo` leads from the new text to the base."""

    record: str
    file: str
    target: str
    at: float
    base: Stamp
    new: Stamp
    undo: Splice

    @property
    def base_file(self) -> str:
        return self.record.removesuffix(".json") + ".base"

    @property
    def desk(self) -> str:
        return self.record.rpartition("/")[0]

    def save(self, durable: bool) -> None:
        value = {
            "target": self.target,
            "file": self.file,
            "at": self.at,
            "base": list(self.base),
            "new": list(self.new),
            "undo": [self.undo.start, self.undo.end, b64encode(self.undo.data).decode()],
        }
        atomic.put(self.record, jsonl.encode(value).encode("utf-8", "surrogateescape") + b"\n", durable=durable)

    def keep_base(self, text: bytes, durable: bool) -> None:
        atomic.put(self.base_file, text, durable=durable)

    def forget(self) -> None:
        """The file first: what was never swapped then cannot be swapped any more."""
        atomic.forget(self.file)
        atomic.forget(self.base_file)
        atomic.forget(self.record)

    def known_base(self) -> bytes | None:
        """The text that the displaced file began with, as far as it can still be known."""
        try:
            return disk.read_file(self.base_file)
        except FileNotFoundError:
            pass
        there = seen(self.target)
        if there is None or there.text is None or there.stamp != self.new:
            return None
        return applied(there.text, self.undo)


class Seen(NamedTuple):
    """A name looked at; `text` is None when it is no plain file."""

    stamp: Stamp
    text: bytes | None


def seen(path: str) -> Seen | None:
    """None: there is nothing. A lease on it is waited out."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return opened(path)
        except FileNotFoundError:
            return None
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE)


def opened(path: str) -> Seen:
    there = disk.lstat(path)
    if not disk.is_file(there):
        return Seen(Stamp(there.st_ino, there.st_size, there.st_mtime_ns), None)
    fd = disk.open(path, FLAGS)
    try:
        status = disk.fstat(fd)
        return Seen(Stamp(status.st_ino, status.st_size, status.st_mtime_ns), disk.pread(fd, status.st_size, 0))
    finally:
        disk.close(fd)


def holds(path: str, text: bytes) -> bool:
    """Is this its whole content? Read in pieces: room for a large text costs more than the reading."""
    try:
        fd = disk.open(path, FLAGS)
    except OSError:
        return False
    try:
        at = 0
        while piece := disk.read(fd, PIECE):
            if not text.startswith(piece, at):
                return False
            at += len(piece)
        return at == len(text)
    finally:
        disk.close(fd)


def is_open(path: str) -> bool:
    """May somebody write to it? True where the system cannot tell."""
    try:
        fd = disk.open(path, FLAGS)
    except OSError:
        return True
    try:
        return leases.writers(fd) != leases.GRANTED
    finally:
        disk.close(fd)


def load(record: str) -> Displacement | None:
    """None when the record is gone or is none of ours."""
    try:
        value = jsonl.decode(disk.read_file(record).decode("utf-8", "surrogateescape"))
        start, end, old = value["undo"]
        return Displacement(
            record,
            str(value["file"]),
            str(value["target"]),
            float(value["at"]),
            Stamp(*value["base"]),
            Stamp(*value["new"]),
            Splice(start, end, b64decode(old)),
        )
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None


def all_on(desk: str) -> list[Displacement]:
    """Oldest first."""
    try:
        names = disk.listdir(desk)
    except FileNotFoundError:
        return []
    records = [f"{desk}/{leaf}" for leaf in names if leaf.startswith(MARK) and leaf.endswith(".json")]
    found = [entry for entry in map(load, records) if entry is not None]
    return sorted(found, key=lambda entry: entry.at)
