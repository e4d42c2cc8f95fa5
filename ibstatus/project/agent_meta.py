"""agents/<id>/meta.json, written: what an agent is and how it is started again."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from ibstatus.errors import IbError
from ibstatus.project import agents, paths
from ibstatus.system import atomic, disk, jsonl, locks

TASK, CLAIMS = "task", "claims"  # what it has taken from a board: for this it was spawned, these it took by itself


def path_of(place: paths.Place, agent: str) -> str:
    return place.agent_dir(agent) + "/meta.json"


def read(place: paths.Place, agent: str) -> dict[str, Any]:
    """Empty when there is none, or none that can be read."""
    try:
        value = jsonl.decode(disk.read_ours(path_of(place, agent), agents.LONGEST_META).decode())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def write(place: paths.Place, agent: str, meta: Mapping[str, Any]) -> None:
    """The whole of it, and its safety copy."""
    atomic.put(path_of(place, agent), form(meta))
    agents.keep(place, agent)


def form(meta: Mapping[str, Any]) -> bytes:
    return json.dumps(meta, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def change(place: paths.Place, agent: str, **new: Any) -> dict[str, Any]:
    """Some keys; the others stay as they are. Refused when it cannot be read: what stands there would be lost."""
    return rework(place, agent, lambda known: new)


def rework(place: paths.Place, agent: str, new: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """The same where what is new depends on what stands there, when nobody else is at it."""
    with locks.Lock(place.lock("agent-" + agent)):
        meta = read(place, agent)
        if not meta:
            raise IbError(f"meta.json of {agent} cannot be read", hint=f"ib info {agent}")
        meta = {**meta, **new(meta)}
        write(place, agent, meta)
    return meta
