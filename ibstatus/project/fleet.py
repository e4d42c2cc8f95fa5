"""agents/<id>/meta.json of all agents, as far as they can be read; one that vanishes meanwhile is simply not there."""

from typing import Any, NamedTuple

from ibstatus.project import agents, paths
from ibstatus.system import disk, jsonl

LONGEST_SOCKET = 64


class Record(NamedTuple):
    """What is written down of one agent. `problem` says why `meta` is empty."""

    id: str
    meta: dict[str, Any]
    problem: str = ""


def records(place: paths.Place) -> list[Record]:
    found = []
    for name in agents.all_ids(place):
        record = record_of(place, name)
        if record is not None:
            found.append(record)
    return found


class Records:
    """The same, read on: only a meta.json that is another file than before, or has changed, is read again."""

    def __init__(self, place: paths.Place) -> None:
        self.place = place
        self.known: dict[str, tuple[tuple[int, int, int, int], Record]] = {}

    def read(self) -> list[Record]:
        found: dict[str, tuple[tuple[int, int, int, int], Record]] = {}
        loose = []
        for name in names_of(self.place):
            mark = mark_of(f"{self.place.agent_dir(name)}/meta.json")
            known = self.known.get(name)
            if mark is not None and known is not None and known[0] == mark:
                found[name] = known
                continue
            record = record_of(self.place, name)
            if record is not None and mark is not None:
                found[name] = (mark, record)
            elif record is not None:
                loose.append(record)
        self.known = found
        return sorted([*(entry[1] for entry in found.values()), *loose], key=lambda record: record.id)


def names_of(place: paths.Place) -> list[str]:
    try:
        return [name for name in disk.listdir(place.home + "/agents") if jsonl.is_unicode(name)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def mark_of(path: str) -> tuple[int, int, int, int] | None:
    try:
        status = disk.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def record_of(place: paths.Place, agent: str) -> Record | None:
    folder = place.agent_dir(agent)
    try:
        meta = jsonl.decode(disk.read_ours(folder + "/meta.json", agents.LONGEST_META).decode())
    except FileNotFoundError:
        return Record(agent, {}, "there is no meta.json") if agents.exists(place, agent) else None
    except OSError as error:
        return Record(agent, {}, f"meta.json cannot be read: {error.strerror}")
    except ValueError:
        return Record(agent, {}, "meta.json is broken")
    return Record(agent, meta) if isinstance(meta, dict) else Record(agent, {}, "meta.json is no object")


def session_of(place: paths.Place, record: Record) -> str:
    """The name of the agent's tmux session: as written down, when it can be ours; else as it must be."""
    return written_session(record) or f"ittybitty-{repo_id(place)}-{record.id}"


def written_session(record: Record) -> str:
    """As meta.json has it, when it can be ours; or ''."""
    written = record.meta.get("tmux_session")
    if isinstance(written, str) and written.startswith("ittybitty-") and written.endswith("-" + record.id):
        return written
    return ""


def written_socket(record: Record) -> str:
    """As meta.json has it, when tmux can take it for the name of a socket; or ''."""
    written = record.meta.get("tmux_socket")
    if not isinstance(written, str) or not 0 < len(written) <= LONGEST_SOCKET:
        return ""
    return "" if "/" in written or not written.isprintable() or written in (".", "..") else written


def repo_id(place: paths.Place) -> str:
    try:
        return disk.read_file(place.repo_id).decode("ascii", "replace").strip()
    except OSError:
        return ""
