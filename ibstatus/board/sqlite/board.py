"""The whole of it: a `port.Board` on one file."""

from ibstatus.board.sqlite import opening
from ibstatus.board.sqlite.clock import HERE, Clock
from ibstatus.board.sqlite.decisions import Decisions
from ibstatus.board.sqlite.endings import Endings
from ibstatus.board.sqlite.merges import Merges
from ibstatus.board.sqlite.stream import Stream


class SqliteBoard(Endings, Decisions, Merges, Stream):
    """Each part says what it holds; they share one connection."""


def open_board(path: str, *, clock: Clock = HERE) -> SqliteBoard:
    """Makes it when it is missing, in a folder that is there. `clock` is for who turns it."""
    return SqliteBoard(opening.connection(path, clock))


def migrate(path: str) -> list[str]:
    """Makes it or brings it up to date; the files that were applied."""
    before = opening.known(path)
    made = opening.connection(path)
    try:
        return [name for name in sorted(opening.applied(made)) if name not in before]
    finally:
        made.close()
