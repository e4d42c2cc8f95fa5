"""Is what the supervisor published true still? Read as a hot command reads it, without msgspec."""

from ibstatus.project import config, paths
from ibstatus.state import snapshot_json
from ibstatus.system import disk, locks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

STALE_AFTER = 3  # intervals
TICK = 0.02  # file times come from a clock that may be this much behind


def path_of(place: paths.Place) -> str:
    return place.home + "/status.json"


def read(place: paths.Place) -> tuple[bytes, float]:
    """status.json, and when that was true: both of the same file, whatever takes its place meanwhile."""
    fd = disk.open(path_of(place), disk.O_RDONLY | disk.O_NONBLOCK | disk.O_CLOEXEC)
    try:
        at = disk.fstat(fd).st_mtime
        return disk.read_all(fd), at
    finally:
        disk.close(fd)


def listed(place: paths.Place, version: str, now: float) -> str | None:
    """What `ib list --json` prints, where nothing is to be done but to print it; else None."""
    try:
        if is_anything_begun(place) or not locks.is_held(place.lock("supervisor")):
            return None
        data, at = read(place)
        return snapshot_json.listed(data, version, now) if is_fresh(place, at, now) else None
    except OSError:
        return None


def is_anything_begun(place: paths.Place) -> bool:
    """Is a command at work on an agent, or was it killed there?"""
    return bool(names_in(place.safe + "/operations"))


def is_fresh(place: paths.Place, at: float, now: float) -> bool:
    """Nothing that it shows has changed since it was looked at last, and that is not long ago."""
    interval = int(config.value(place, "status_node.update_interval"))
    if not 0 <= now - at <= STALE_AFTER * interval:
        return False
    before = at - TICK
    return all(changed_at(path) < before for path in sources(place))


def is_behind(place: paths.Place, at: float, now: float) -> bool:
    """Has something changed since, or so shortly before that the times of files cannot tell? What is dated in the
    future never says."""
    return any(at - TICK <= changed_at(path) <= now for path in sources(place))


def sources(place: paths.Place) -> "Iterator[str]":
    """A meta.json is changed in place of the old one, which its folder's folder does not show: each is asked."""
    agents = place.home + "/agents"
    yield from (place.messages, place.questions, agents, place.events)
    for leaf in names_in(place.spool):
        if leaf.endswith(".jsonl"):
            yield f"{place.spool}/{leaf}"
    for name in names_in(agents):
        yield f"{agents}/{name}/meta.json"


def names_in(folder: str) -> list[str]:
    try:
        return disk.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def changed_at(path: str) -> float:
    try:
        return disk.stat(path).st_mtime
    except OSError:
        return 0.0
