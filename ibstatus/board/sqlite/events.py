"""The stream of events, and the bell of who waits for it."""

import json
import time
from collections.abc import Sequence

from ibstatus.board.sqlite import rows
from ibstatus.board.sqlite.connection import Connection
from ibstatus.board.sqlite.tasks import Tasks, bounded
from ibstatus.mail import bells
from ibstatus.model.board import Event

AFTER = """
WHERE seq > :since AND (:channels = '[]' OR channel IN (SELECT value FROM json_each(:channels)))
  AND (:project IS NULL OR project_id = :project)
ORDER BY seq LIMIT :limit
"""
LOOK_EVERY = 1.0  # where no bell can be hung


class Stream(Tasks):
    def events(
        self, since: int, limit: int = 1000, channels: Sequence[str] = (), project_id: str | None = None
    ) -> list[Event]:
        given = {
            "since": bounded(since),
            "limit": bounded(limit),
            "channels": json.dumps(list(channels)),
            "project": project_id,
        }
        return [rows.event(row) for row in self.connection.all(rows.EVENT + AFTER, given)]

    def last_seq(self) -> int:
        row = self.connection.one("SELECT coalesce(max(seq), 0) FROM events")
        return int(row[0]) if row else 0

    def doorbell(self) -> "Doorbell":
        return Doorbell(self.connection)


class Doorbell:
    """A FIFO of its own; without one the database is asked, once a second, whether somebody wrote."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.bell = bells.Bell(connection.bells)
        self.seen = self.version()

    def wait(self, seconds: float) -> bool:
        self.connection.check_file()
        if self.bell.fd >= 0:
            return self.bell.wait(seconds)
        return self.looked(time.monotonic() + seconds)

    def looked(self, deadline: float) -> bool:
        while self.version() == self.seen:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(LOOK_EVERY, left))
        self.seen = self.version()
        return True

    def version(self) -> tuple[int, int]:
        """What others wrote, and what this connection wrote itself."""
        row = self.connection.one("PRAGMA data_version")
        return (int(row[0]) if row else 0, self.connection.sql.total_changes)

    def fileno(self) -> int:
        """-1 where there is no bell: then only `wait` can tell."""
        return self.bell.fd

    def close(self) -> None:
        self.bell.close()
