"""The schema ib_board: is it there, is it ours, and bringing it up to date."""

import psycopg

from ibstatus.board import migrations
from ibstatus.board.postgres.connection import Connection
from ibstatus.errors import IbError

FOLDER = __file__.rpartition("/")[0]
TABLE = """
CREATE SCHEMA IF NOT EXISTS ib_board;
CREATE TABLE IF NOT EXISTS ib_board.schema_migrations (
  filename text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
"""
# Of the session, beside the one that orders writers (002_events.sql): "ib_board" plus one.
ALONE, NOT_ALONE = "SELECT pg_advisory_lock(7593736798080168549)", "SELECT pg_advisory_unlock(7593736798080168549)"


def check(opened: Connection) -> None:
    """Only looks: a board that others use is changed when somebody asks for it."""
    lacking = migrations.missing(migrations.of(FOLDER), applied(opened))
    if lacking:
        raise IbError("The board's database is older than this ib", cause=f"it lacks {lacking[0].filename}", hint=UP)


UP = "ib board up"


def applied(opened: Connection) -> dict[str, str]:
    if opened.one("SELECT to_regclass('ib_board.schema_migrations')") == (None,):
        raise IbError("There is no board in that database yet", hint=UP)
    return {
        str(name): str(checksum) for name, checksum in opened.all("SELECT filename, checksum FROM schema_migrations")
    }


def bring_up(opened: Connection) -> list[str]:
    """A file is one transaction; whoever comes second waits, and finds it done."""
    opened.all(ALONE)
    try:
        run(opened, TABLE)
        lacking = migrations.missing(migrations.of(FOLDER), applied(opened))
        for one in lacking:
            apply(opened, one)
        return [one.filename for one in lacking]
    finally:
        if not opened.sql.closed:
            opened.all(NOT_ALONE)


def apply(opened: Connection, one: migrations.Migration) -> None:
    try:
        with opened.sql.transaction():
            opened.sql.execute(one.sql.encode(), prepare=False)
            opened.sql.execute(
                "INSERT INTO ib_board.schema_migrations (filename, checksum) VALUES (%s, %s)",
                (one.filename, one.checksum),
            )
    except psycopg.Error as error:
        raise opened.meant(error) from None


def run(opened: Connection, script: str) -> None:
    try:
        with opened.sql.transaction():
            opened.sql.execute(script.encode(), prepare=False)
    except psycopg.Error as error:
        raise opened.meant(error) from None
