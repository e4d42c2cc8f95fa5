"""notify/board.json: up to which event of a board the user's Claude was told what waits for it."""

import msgspec

from ibstatus.project import paths
from ibstatus.system import atomic, disk, locks

LONGEST = 1 << 20


class Told(msgspec.Struct, frozen=True):
    """Of one board. `item` is the id of the notice on event `at`: after a kill it may stand in the queue or not."""

    seq: int = 0
    at: int = 0
    item: str = ""


def path_of(place: paths.Place) -> str:
    return place.home + "/notify/board.json"


def lock(place: paths.Place) -> locks.Lock:
    return locks.Lock(place.lock("board-news"))


def read(place: paths.Place, mark: str) -> Told:
    """`mark` tells one board from another."""
    return everything(place).get(mark, Told())


def everything(place: paths.Place) -> dict[str, Told]:
    try:
        return msgspec.json.decode(disk.read_ours(path_of(place), LONGEST), type=dict[str, Told])
    except (OSError, ValueError, msgspec.MsgspecError):
        return {}


def write(place: paths.Place, mark: str, told: Told) -> None:
    data = msgspec.json.encode({**everything(place), mark: told}) + b"\n"
    disk.make_dirs(place.home + "/notify")
    atomic.put(path_of(place), data, durable=True)
