"""What status.json shows, as `ib list --json` prints it: without msgspec, and to the letter what that would print.

Only a text that is exactly what this ib writes counts; of any other it is None, and whoever asked looks for itself.
"""

from ibstatus.system import jsonl, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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


def listed(data: bytes, version: str, now: float) -> str | None:
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
