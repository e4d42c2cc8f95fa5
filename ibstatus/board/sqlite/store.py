"""The whole of it: a `port.Board` on one file."""

from ibstatus.board.sqlite import schema
from ibstatus.board.sqlite.claims import Endings
from ibstatus.board.sqlite.events import Stream
from ibstatus.board.sqlite.lease_clock import HERE, Clock
from ibstatus.board.sqlite.merges import Merges
from ibstatus.board.sqlite.tasks import Decisions


class SqliteBoard(Endings, Decisions, Merges, Stream):
    """Each part says what it holds; they share one connection."""


def open_board(path: str, *, clock: Clock = HERE) -> SqliteBoard:
    """Makes it when it is missing, in a folder that is there. `clock` is for who turns it."""
    return SqliteBoard(schema.connection(path, clock))


def migrate(path: str) -> list[str]:
    """Makes it or brings it up to date; the files that were applied."""
    before = schema.known(path)
    made = schema.connection(path)
    try:
        return [name for name in sorted(schema.applied(made)) if name not in before]
    finally:
        made.close()
