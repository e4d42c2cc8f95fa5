"""Is what the supervisor published true still? Read as a hot command reads it, without msgspec.

What status.json shows, as `ib list --json` prints it: without msgspec, and to the letter what that would print.

Only a text that is exactly what this ib writes counts; of any other it is None, and whoever asked looks for itself.
"""

from ibstatus.project import config, paths
from ibstatus.system import disk, jsonl, locks, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


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
        return encode_list(data, version, now) if is_fresh(place, at, now) else None
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


TOP = ("seq", "at", "version", "agents", "messages", "questions", "wake")
TOP_TYPES = (int, str, str, list, list, list, dict)
WAKE = ("listening", "primary", "armed")
NONE = type(None)
# The fields of an Agent (model/records) with their types; a test holds the two together.
AGENT: "dict[str, tuple[type, ...]]" = {
    "id": (str,),
    "state": (str,),
    "age": (str,),
    "prompt": (str,),
    "children": (int,),
    "children_complete": (int,),
    "manager": (str, NONE),
    "reason": (str,),
    "since": (float, NONE),
    "created": (float, NONE),
    "model": (str,),
    "worker": (bool,),
    "problem": (str,),
    "marks": (list,),
    "source": (str,),
    "asks": (str,),
    "said": (str,),
    "silent": (bool,),
    "note": (str,),
}
FIELDS = tuple(AGENT)
MOST = 1e15  # below it, and far from 0, every writer of JSON writes a number in the same way
HALF = "\\ud"  # half of an emoji, as JSON may name it: msgspec does not take it
CONTROL = bytes(range(0x20))  # we write one line, and none of these in it


def encode_list(data: bytes, version: str, now: float) -> str | None:
    """Its agents with the ages of now; None when it is broken, or of another version of ib."""
    if len(data.translate(None, CONTROL)) != len(data) - 1:
        return None
    try:
        text = data.decode()
        value = jsonl.decode(text)
    except ValueError:
        return None
    if HALF in text or not is_snapshot(value, version):
        return None
    agents = value["agents"]
    for agent in agents:
        if agent["created"] is not None:
            agent["age"] = timestamps.age(now - agent["created"])
    return "".join(jsonl.chunks(agents, 0)) + "\n"


def is_snapshot(value: "Any", version: str) -> bool:
    if type(value) is not dict or tuple(value) != TOP or tuple(map(type, value.values())) != TOP_TYPES:
        return False
    wake = value["wake"]
    return (
        value["version"] == version
        and tuple(wake) == WAKE
        and type(wake["primary"]) is str
        and are(str, wake["listening"])
        and are(str, wake["armed"])
        and are(dict, value["messages"])
        and are(dict, value["questions"])
        and are_agents(value["agents"])
    )


def are_agents(values: "list[Any]") -> bool:
    """Most have the same types in their fields: each row of types is looked at once."""
    fine: set[tuple[type, ...]] = set()
    for value in values:
        if type(value) is not dict or tuple(value) != FIELDS:
            return False
        row = tuple(map(type, value.values()))
        if row not in fine:
            if not all(one in types for one, types in zip(row, AGENT.values(), strict=True)):
                return False
            fine.add(row)
        if not (is_plain(value["since"]) and is_plain(value["created"]) and are(str, value["marks"])):
            return False
    return True


def are(kind: type, values: "Any") -> bool:
    return type(values) is list and (not values or all(type(one) is kind for one in values))


def is_plain(number: float | None) -> bool:
    """Is it written alike by all?"""
    return number is None or number == 0.0 or 0.001 < number < MOST
