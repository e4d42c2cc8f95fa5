"""One open connection: how it is set up, how a change is made, and what SQLite's errors mean to a user.

The gate in front of every change: one after the other, and whoever has just been in goes to the end of the queue.

SQLite's own busy handler starves whoever waits longest. A single flock is won again by who has just given it back,
before the others are awake; so there are two: who waits for the inner one holds the outer one, and the next wait there.
Who slips past, because somebody removed the files that one of us has open, meets SQLite's lock: here is order, not
safety, and no second look.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from os import stat_result
from typing import Any

from ibstatus.board.port import Gone
from ibstatus.board.sqlite.lease_clock import Clock
from ibstatus.errors import IbError, quoted, refused
from ibstatus.mail import bells
from ibstatus.system import disk, locks

# A program that is not ours may hold SQLite's own lock; ours stand at the gate and never meet it.
PATIENCE = 10.0
STATEMENTS = 256
SETTINGS = """
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA recursive_triggers = ON;
"""

Row = tuple[Any, ...]


class Connection:
    """Used by one thread. `gate`: SQLite's busy handler starves whoever waits longest, a queue at a flock does not.

    Nothing of ours opens the file beside SQLite: closing it again would drop the locks of every connection that this
    process has (POSIX has it so), and another process could take the log away from under them."""

    def __init__(self, path: str, clock: Clock) -> None:
        folder = path.rpartition("/")[0] or "."
        self.path = path
        self.clock = clock
        self.bells = f"{folder}/board-bells"
        self.gate = Gate(f"{folder}/locks/board")
        make_private(path)
        try:
            self.sql = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, cached_statements=STATEMENTS)
        except sqlite3.Error as error:
            raise meant(error, path) from error
        self.file = found(path)

    def set_up(self) -> None:
        """What holds for this connection; WAL holds for the file."""
        self.sql.executescript(SETTINGS)

    def is_wal(self) -> bool:
        return bool(self.sql.execute("PRAGMA journal_mode").fetchone() == ("wal",))

    def all(self, statement: str, values: Row | dict[str, Any] = ()) -> list[Row]:
        try:
            return self.sql.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise meant(error, self.path) from error

    def one(self, statement: str, values: Row | dict[str, Any] = ()) -> Row | None:
        rows = self.all(statement, values)
        return rows[0] if rows else None

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all that is done within, on the platter when it is left, or nothing. Then the bells ring."""
        before = self.sql.total_changes
        try:
            with self.gate:
                self.check_file()
                self.sql.execute("BEGIN IMMEDIATE")
                try:
                    yield self.sql
                    self.sql.execute("COMMIT")
                except BaseException:
                    self.roll_back()
                    raise
        except sqlite3.Error as error:
            raise meant(error, self.path) from error
        except OSError as error:
            raise refused("write the board", error) from error
        if self.sql.total_changes != before:
            bells.ring(self.bells)

    def roll_back(self) -> None:
        """After a full disk SQLite has done so already."""
        if self.sql.in_transaction:
            self.sql.execute("ROLLBACK")

    def check_file(self) -> None:
        """`git clean` may have taken the file away, and what is written to it then nobody would ever see."""
        if not disk.has_name(self.file, self.path):
            raise Gone("The board's file was removed or replaced", hint="run the command again: it opens the new one")

    def close(self) -> None:
        self.sql.close()
        self.gate.close()


def make_private(path: str) -> None:
    """Made with our mode before SQLite sees it, which would use the umask; its -wal and -shm get the same."""
    try:
        disk.close(disk.open(path, disk.O_RDWR | disk.O_CREAT | disk.O_EXCL | disk.O_CLOEXEC, 0o600))
    except FileExistsError:
        if not disk.is_file(found(path)):
            hint = f"move it out of the way: mv {quoted(path)} {quoted(path + '.old')}"
            raise IbError(f"{path} is no file", hint=hint) from None
    except FileNotFoundError as error:
        raise IbError("There is no folder for the board", cause=str(error), hint="ib init") from error
    except OSError as error:
        raise refused("make the board", error) from error


def found(path: str) -> stat_result:
    try:
        return disk.stat(path)
    except OSError as error:
        raise refused("open the board", error) from error


def meant(error: sqlite3.Error, path: str) -> IbError:
    """An error of SQLite in the user's words; a mistake of ours stays one."""
    if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
        raise error
    code, text = getattr(error, "sqlite_errorcode", 0) & 0xFF, str(error)
    if code == sqlite3.SQLITE_FULL:
        return IbError("The board cannot grow", cause=text, hint="free some space, then run the command again")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        rescue = f"keep it, and save what can be read: sqlite3 {quoted(path)} .recover > board.sql"
        return IbError(f"{path} is damaged, or is no board", cause=text, hint=rescue)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Gone("Another program keeps the board locked", cause=text, hint="end what has board.db open, then again")
    if code == sqlite3.SQLITE_IOERR and is_full(path):
        return IbError("The board cannot be opened: its disk is full", cause=text, hint="free some space, then again")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM):
        return Gone(f"{path} cannot be read or written", cause=text, hint="ib doctor")
    return IbError("The board refused that", cause=text)


def is_full(path: str) -> bool:
    """SQLite also needs a little room of its own to read, and does not say that it has none."""
    try:
        return os.statvfs(os.path.dirname(path) or ".").f_bavail == 0
    except OSError:
        return False


class Gate:
    """`path` is the inner lock; a kill gives both back."""

    __slots__ = ("inner", "outer")

    def __init__(self, path: str) -> None:
        self.inner = Latch(path)
        self.outer = Latch(path + "-next")

    def __enter__(self) -> "Gate":
        self.outer.take()
        try:
            self.inner.take()
        finally:
            try:
                self.outer.give()
            except BaseException:
                self.inner.shut()
                raise
        return self

    def __exit__(self, *exc: object) -> None:
        self.inner.give()

    def close(self) -> None:
        self.inner.shut()
        self.outer.shut()


class Latch:
    """A lock whose file stays open. It is not to be carried over a fork, which would share it."""

    __slots__ = ("fd", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.fd = -1

    def take(self) -> None:
        if self.fd < 0:
            self.fd = locks.opened(self.path)
        try:
            disk.flock(self.fd, disk.LOCK_EX)
        except BaseException:
            self.shut()
            raise

    def give(self) -> None:
        """However that ends, it is free: closing gives back what could not be unlocked."""
        try:
            disk.flock(self.fd, disk.LOCK_UN)
        except BaseException as error:
            self.shut()
            if not isinstance(error, OSError):
                raise

    def shut(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            disk.close(fd)
