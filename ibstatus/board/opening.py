"""Which board is meant here: a file of this repository, or the Postgres that IB_BOARD_DSN or board.dsn names."""

import os
from typing import TYPE_CHECKING

from ibstatus.project import agent_meta, config, copied_repository, home, paths
from ibstatus.system import disk, folders

if TYPE_CHECKING:  # asked by many who find that there is none
    from collections.abc import Callable

    from ibstatus.board.port import Board
    from ibstatus.board.sqlite.store import SqliteBoard

VARIABLE, KEY = "IB_BOARD_DSN", "board.dsn"


def dsn_of(place: paths.Place) -> str:
    """'' where the board is a file. Never print it: there may be a password in it."""
    return os.environ.get(VARIABLE, "") or str(config.value(place, KEY) or "")


def mark_of(place: paths.Place) -> str:
    """Tells one board from another; says nothing of what is in a DSN."""
    return copied_repository.of(dsn_of(place) or place.board)


def is_there(place: paths.Place) -> bool:
    """Is there anything to open? Asked by those who only want to know whether the board concerns them."""
    return bool(dsn_of(place)) or has_file(place)


def has_file(place: paths.Place) -> bool:
    """Also where a server is the board by now."""
    return disk.exists(place.board) or disk.exists(place.board_link)


def opened(place: paths.Place) -> "Board":
    """A file is made when it is not there; what a server has not is made by `up` alone."""
    dsn = dsn_of(place)
    if dsn:
        return of_server(dsn)
    return of_file(place)


def again(place: paths.Place) -> "Callable[[], Board]":
    """For those who open it more than once: a file that was taken away under them is not made anew."""
    seen = False

    def opening() -> "Board":
        nonlocal seen
        if seen and not is_there(place):
            from ibstatus.board.port import Gone

            raise Gone("The board's file is gone")
        board = opened(place)
        seen = True
        return board

    return opening


def of_file(place: paths.Place) -> "Board":
    from ibstatus.board.sqlite.store import open_board

    enter(place)
    board = open_board(place.board)
    try:
        take_over(place, board)
    except BaseException:
        board.close()
        raise
    return board


def take_over(place: paths.Place, board: "SqliteBoard") -> None:
    """In a copied file the queue is that of the repository which was copied: its branches are here as well. The note
    of its id goes last, and only once another id is ours: two at once do the same twice."""
    own = agent_meta.repo_id(place)
    for former in copied_repository.formers(place):
        if own and former != own:
            board.take_over(former, own)
            copied_repository.forget_former(place, former)


def of_server(dsn: str) -> "Board":
    from ibstatus.board.postgres import open_board

    return open_board(dsn)


def up(place: paths.Place) -> list[str]:
    """The names of the migrations that were applied; none when all was there."""
    dsn = dsn_of(place)
    if dsn:
        from ibstatus.board.postgres import migrate

        return migrate(dsn)
    from ibstatus.board.sqlite.store import migrate as bring_up

    enter(place)
    return bring_up(place.board)


def lacking(place: paths.Place) -> list[str]:
    """Changes that the file of this repository would still get; only read. A server says so when it is opened."""
    if dsn_of(place) or not disk.exists(place.board):
        return []
    from ibstatus.board import migrations
    from ibstatus.board.sqlite import schema

    return [one.filename for one in migrations.missing(migrations.of(schema.FOLDER), schema.known(place.board))]


def enter(place: paths.Place) -> None:
    home.enter(place)
    disk.make_dirs(place.safe)
    if not disk.exists(place.board) and is_unpacked(place.board_link):
        bring_back(place)
    if not os.path.lexists(place.board_link):
        inside = place.board.startswith(place.root + "/")
        try:
            os.symlink(os.path.relpath(place.board, place.home) if inside else place.board, place.board_link)
        except OSError:
            return  # only for people to find it


def is_unpacked(path: str) -> bool:
    """A file itself: what somebody has linked to, or a folder, is not ours to move."""
    try:
        return disk.is_file(disk.lstat(path))
    except OSError:
        return False


def bring_back(place: paths.Place) -> None:
    """What uninstall has kept was unpacked where only the link is at other times. The board itself comes last."""
    for end in ("-wal", ""):
        folders.move(place.board_link + end, place.board + end)
