"""hooks.log: what went wrong inside a hook. A hook itself stays silent; this is where `ib doctor` looks."""

from ibstatus.project import paths
from ibstatus.system import append, disk, timestamps

LONGEST = 1 << 18
LONGEST_LINE = 2000


def path_of(place: paths.Place) -> str:
    return place.home + "/hooks.log"


def write(place: paths.Place, hook: str, what: str, now: float) -> None:
    """Never fails. A log that grew too long begins anew."""
    line = f"{timestamps.utc(now)} {hook}: {' '.join(what.split())}"[:LONGEST_LINE]
    path = path_of(place)
    try:
        done = append.append(path, line.encode("utf-8", "replace") + b"\n")
        done.close()
        if done.end > LONGEST:
            disk.rename(path, path + ".1")
    except OSError:
        return
