"""LISTEN, on a connection of its own that does nothing else."""

import time

import psycopg

from ibstatus.board.postgres.connection import Connection

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
