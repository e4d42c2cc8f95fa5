"""A board is opened whole: made and brought up to date in the same step, by whoever comes first."""

import sqlite3

from ibstatus.board import migrations
from ibstatus.board.sqlite.connection import Connection, meant
from ibstatus.board.sqlite.lease_clock import HERE, Clock
from ibstatus.errors import IbError, quoted, refused
from ibstatus.system import atomic, disk

FOLDER = __file__.rpartition("/")[0]
OLDEST = (3, 35)
TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    filename TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)
"""


def connection(path: str, clock: Clock = HERE) -> Connection:
    if sqlite3.sqlite_version_info < OLDEST:
        raise IbError(f"SQLite {sqlite3.sqlite_version} is too old for the board", hint="use a Python with SQLite 3.35")
    made = Connection(path, clock)
    try:
        settle(made, migrations.of(FOLDER))
    except sqlite3.Error as error:
        made.close()
        raise meant(error, path) from error
    except OSError as error:
        made.close()
        raise refused("open the board", error) from error
    except BaseException:
        made.close()
        raise
    return made


def settle(made: Connection, ours: list[migrations.Migration]) -> None:
    """Who finds all in order need not wait at the gate."""
    made.set_up()
    if made.is_wal() and applied(made) == {one.filename: one.checksum for one in ours}:
        return
    with made.gate:
        made.sql.execute("PRAGMA journal_mode = WAL")
        bring_up(made, ours)


def bring_up(made: Connection, ours: list[migrations.Migration]) -> None:
    """At the gate, so that each file is applied once; each in a transaction of its own."""
    found = tables(made)
    if found and "schema_migrations" not in found:
        raise IbError(f"{made.path} is a database of another program", hint=f"mv {quoted(made.path)} elsewhere.db")
    made.sql.execute(TABLE)
    for one in migrations.missing(ours, applied(made)):
        made.sql.execute("BEGIN IMMEDIATE")
        try:
            for statement in statements(one.sql):
                made.sql.execute(statement)
            row = (one.filename, one.checksum, made.clock.now())
            made.sql.execute("INSERT INTO schema_migrations VALUES (?, ?, ?)", row)
            made.sql.execute("COMMIT")
        except BaseException:
            made.roll_back()
            raise
    atomic.sync_folder(made.path.rpartition("/")[0] or ".")


def tables(made: Connection) -> set[str]:
    return {str(name) for (name,) in made.sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def applied(made: Connection) -> dict[str, str]:
    if "schema_migrations" not in tables(made):
        return {}
    return dict(made.sql.execute("SELECT filename, checksum FROM schema_migrations").fetchall())


def known(path: str) -> dict[str, str]:
    """What has been applied to a file that is perhaps not there; only read."""
    if not disk.exists(path):
        return {}
    made = Connection(path, HERE)
    try:
        return applied(made)
    except sqlite3.Error as error:
        raise meant(error, path) from error
    finally:
        made.close()


def statements(sql: str) -> list[str]:
    """SQLite itself says where a statement ends: a trigger holds semicolons."""
    found, rest = [], ""
    for line in sql.splitlines(keepends=True):
        rest += line
        if sqlite3.complete_statement(rest):
            found.append(rest)
            rest = ""
    return found
