"""notify/episodes.json: what the supervisor has told and done about its agents. Only the supervisor writes it."""

import msgspec

from ibstatus.project import paths
from ibstatus.state.rules.episodes import Episode
from ibstatus.state.rules.limits import Park
from ibstatus.system import atomic, disk

LONGEST = 16 << 20
FIELDS = {"agent", "to", "kind", "text", "about"}  # of a pending notice


class Record(msgspec.Struct, frozen=True):
    """`told_at`: when the last automatic notices interrupted. `pending`: notices whose id is given and which may be
    written or not: after a kill they are looked for."""

    agents: dict[str, Episode] = {}
    told_at: list[float] = []
    park: Park | None = None
    pending: dict[str, dict[str, str]] = {}


def path_of(place: paths.Place) -> str:
    return place.home + "/notify/episodes.json"


def read(place: paths.Place) -> Record | None:
    """None when there is none, or none that can be read: then nobody knows what was told."""
    try:
        found = msgspec.json.decode(disk.read_ours(path_of(place), LONGEST), type=Record)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None
    whole = {item: known for item, known in found.pending.items() if known.keys() >= FIELDS}
    return found if whole == found.pending else msgspec.structs.replace(found, pending=whole)


def write(place: paths.Place, record: Record, *, durable: bool) -> None:
    path = path_of(place)
    data = msgspec.json.encode(record) + b"\n"
    try:
        atomic.put(path, data, durable=durable)
    except FileNotFoundError:
        disk.make_dirs(path.rpartition("/")[0])
        atomic.put(path, data, durable=durable)
