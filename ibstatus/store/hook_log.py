"""hooks.log: what went wrong inside a hook. A hook itself stays silent; this is where `ib doctor` looks."""

from ibstatus.rules import stamps
from ibstatus.store import append, disk, places

LONGEST = 1 << 18
LONGEST_LINE = 2000


def path_of(place: places.Place) -> str:
    return place.home + "/hooks.log"


def write(place: places.Place, hook: str, what: str, now: float) -> None:
    """Never fails. A log that grew too long begins anew."""
    line = f"{stamps.utc(now)} {hook}: {' '.join(what.split())}"[:LONGEST_LINE]
    path = path_of(place)
    try:
        done = append.append(path, line.encode("utf-8", "replace") + b"\n")
        done.close()
        if done.end > LONGEST:
            disk.rename(path, path + ".1")
    except OSError:
        return
