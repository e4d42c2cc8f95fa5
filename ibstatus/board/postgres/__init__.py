"""The board on PostgreSQL, for more than one machine. psycopg is loaded here alone, and only when it is asked for."""

import sys

from ibstatus.board.port import Board
from ibstatus.errors import IbError, quoted

DRIVER = "'psycopg[binary]'"


def open_board(dsn: str) -> Board:
    """Of a database that `migrate` has set up; `Gone` when there is no server."""
    check_driver()
    from ibstatus.board.postgres import connection, schema, store

    opened = connection.Connection(dsn)
    try:
        schema.check(opened)
    except BaseException:
        opened.close()
        raise
    return store.PostgresBoard(opened)


def migrate(dsn: str) -> list[str]:
    """Sets the board up, or brings it up to date: the files that were applied. Two at once do no harm."""
    check_driver()
    from ibstatus.board.postgres import connection, schema

    opened = connection.Connection(dsn)
    try:
        return schema.bring_up(opened)
    finally:
        opened.close()


def check_driver() -> None:
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        hint = f"pipx inject ibstatus {DRIVER}; or, without pipx: {quoted(sys.executable)} -m pip install {DRIVER}"
        raise IbError("A board on PostgreSQL needs psycopg", cause=str(error), hint=hint) from None
