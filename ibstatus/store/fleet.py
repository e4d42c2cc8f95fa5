"""agents/<id>/meta.json of all agents, as far as they can be read; one that vanishes meanwhile is simply not there."""

from typing import Any, NamedTuple

from ibstatus.rules import lines
from ibstatus.store import agents, disk, places


class Record(NamedTuple):
    """What is written down of one agent. `problem` says why `meta` is empty."""

    id: str
    meta: dict[str, Any]
    problem: str = ""


def records(place: places.Place) -> list[Record]:
    found = []
    for name in agents.all_ids(place):
        record = record_of(place, name)
        if record is not None:
            found.append(record)
    return found


def record_of(place: places.Place, agent: str) -> Record | None:
    folder = place.agent_dir(agent)
    try:
        meta = lines.decode(disk.read_ours(folder + "/meta.json", agents.LONGEST_META).decode())
    except FileNotFoundError:
        return Record(agent, {}, "there is no meta.json") if agents.exists(place, agent) else None
    except OSError as error:
        return Record(agent, {}, f"meta.json cannot be read: {error.strerror}")
    except ValueError:
        return Record(agent, {}, "meta.json is broken")
    return Record(agent, meta) if isinstance(meta, dict) else Record(agent, {}, "meta.json is no object")


def session_of(place: places.Place, record: Record) -> str:
    """The name of the agent's tmux session: as written down, when it can be ours; else as it must be."""
    written = record.meta.get("tmux_session")
    if isinstance(written, str) and written.startswith("ittybitty-") and written.endswith("-" + record.id):
        return written
    return f"ittybitty-{repo_id(place)}-{record.id}"


def repo_id(place: places.Place) -> str:
    try:
        return disk.read_file(place.repo_id).decode("ascii", "replace").strip()
    except OSError:
        return ""
