"""One open connection: autocommit, each statement prepared and a transaction of its own, errors in the user's words.

LISTEN, on a connection of its own that does nothing else.
"""

import time
from collections.abc import Generator, Mapping, Sequence
from typing import Any, LiteralString

import psycopg
from psycopg import conninfo

from ibstatus.board.port import Gone
from ibstatus.board.postgres import errors
from ibstatus.errors import IbError

# A network that is silently gone is noticed within a minute, by a listener too.
USUAL: dict[str, Any] = {
    "application_name": "ib",
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
# The board's texts are not to be read in another one, whatever a DSN was made for.
ALWAYS = {"client_encoding": "UTF8"}
# All of the board's statements go by an index. A planner that has seen an empty table would read all of it for each
# claim, until the next analyze.
SETTINGS = {
    "search_path": "ib_board",
    "default_transaction_isolation": "read committed",
    "lock_timeout": "60s",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
SET: LiteralString = (
    "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[]) AS settings (name, value)"
)
OLDEST = 140000
TRIED_AGAIN = ("40001", "40P01")  # serialization failure, deadlock: rolled back whole, so it may be repeated
TRIES = 5

Row = tuple[Any, ...]
Values = Sequence[Any] | Mapping[str, Any]


class Refused(Exception):
    """The board's own SQL refused, with one of its codes (003_operations.sql) and what that is about."""

    def __init__(self, code: str, about: str) -> None:
        super().__init__(code)
        self.code = code
        self.about = about


class Connection:
    """Used by one thread. Once it has raised `Gone` it stays gone."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.sql = connected(dsn)
        try:
            if self.sql.info.server_version < OLDEST:
                raise IbError("The board needs PostgreSQL 14 or newer", cause=f"this is {self.sql.info.server_version}")
            self.all(SET, (list(SETTINGS), list(SETTINGS.values())))
        except BaseException:
            self.close()
            raise

    def all(self, statement: LiteralString, values: Values = ()) -> list[Row]:
        return self.run(statement, values).fetchall()

    def run(self, statement: LiteralString, values: Values = ()) -> psycopg.Cursor[Row]:
        for left in reversed(range(TRIES)):
            try:
                return self.sql.execute(statement, values)
            except psycopg.Error as error:
                if not left or error.sqlstate not in TRIED_AGAIN:
                    raise self.meant(error, halves=statement.startswith("CALL ")) from None
        raise AssertionError("unreachable")

    def one(self, statement: LiteralString, values: Values = ()) -> Row | None:
        rows = self.all(statement, values)
        return rows[0] if rows else None

    def each(self, statement: LiteralString, values: Values = ()) -> Generator[Row, None, None]:
        """One after the other, for what need not be in memory at once. Close it when it is not read to its end."""
        with self.sql.cursor() as cursor:
            try:
                yield from cursor.stream(statement, values)
            except psycopg.Error as error:
                raise self.meant(error) from None

    def meant(self, error: psycopg.Error, halves: bool = False) -> IbError | Refused:
        state = error.sqlstate or ""
        if state.startswith("IB"):
            return Refused(state, error.diag.message_detail or "")
        return errors.meant(error, broken=self.sql.closed, halves=halves)

    def close(self) -> None:
        self.sql.close()


def connected(dsn: str) -> psycopg.Connection[Row]:
    """`from None` everywhere: psycopg's own texts quote the DSN."""
    try:
        given: dict[str, Any] = dict(conninfo.conninfo_to_dict(dsn))
    except (psycopg.Error, ValueError):
        raise errors.unreadable() from None
    host = str(given.get("host") or "") or None
    try:
        whole = conninfo.make_conninfo(**{**USUAL, **given, **ALWAYS})
        return psycopg.connect(whole, autocommit=True, prepare_threshold=0)
    except psycopg.Error as error:
        raise errors.unreachable(error, host) from None
    except (OSError, ValueError):
        raise Gone(f"The board's PostgreSQL{errors.named(host)} cannot be reached", hint=errors.AGAIN) from None


SILENCE = 30.0  # then the server is asked whether it is still there: a network that died says nothing


class PostgresDoorbell:
    """Listens from the moment it is made: make it, look, then wait. What rang meanwhile is kept."""

    def __init__(self, dsn: str) -> None:
        self.opened = Connection(dsn)
        self.heard = time.monotonic()
        try:
            self.opened.run("LISTEN ib_board")
        except BaseException:
            self.close()
            raise

    def wait(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while True:
            now = time.monotonic()
            if now - self.heard > SILENCE:
                self.opened.all("SELECT 1")
                self.heard = now
            if self.rung(max(0.0, min(end - now, SILENCE))):
                return True
            if now >= end:
                return False

    def rung(self, seconds: float) -> bool:
        """To its end: a generator that is left waiting blocks the connection, and loses what came with the first."""
        try:
            rings = list(self.opened.sql.notifies(timeout=seconds, stop_after=1))
            if rings:
                rings += self.opened.sql.notifies(timeout=0)
                self.heard = time.monotonic()
        except psycopg.Error as error:
            raise self.opened.meant(error) from None
        return bool(rings)

    def fileno(self) -> int:
        return self.opened.sql.fileno()

    def close(self) -> None:
        self.opened.close()
