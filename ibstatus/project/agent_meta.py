"""agents/<id>/meta.json, written: what an agent is and how it is started again.

agents/<id>/meta.json of all agents, as far as they can be read; one that vanishes meanwhile is simply not there.

The worktree of an agent: where it is, whether it is lost, whether it is one of this repository.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ibstatus.errors import IbError, quoted
from ibstatus.project import agents, operations, paths
from ibstatus.system import atomic, disk, git_layout, jsonl, locks
from ibstatus.system.git import worktrees

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


def worktree_of(place: paths.Place, agent: str, known: dict[str, Any]) -> str:
    return place.root if known.get("worktree") is False else place.agent_dir(agent) + "/repo"


def lost_worktree(place: paths.Place, agent: str, *, ours: bool = False) -> str:
    """What makes it again, where somebody has removed it; '' while it is there, and for an agent that never had one.
    Nor while a command is making or closing the agent, unless that is `ours`."""
    known = read(place, agent)
    path, branch = worktree_of(place, agent, known), f"agent/{agent}"
    if "client" not in known or known.get("worktree") is False or disk.exists(path):
        return ""
    if not ours and operations.is_at_work(place, agent):
        return ""
    if worktrees.tip(place.git_folder, branch):
        return f"git worktree add -f {quoted(path)} {branch}"
    base = str(known.get("base_commit") or "")
    return f"git worktree add -f -b {branch} {quoted(path)} {base}" if base else f"ib kill {agent}"


def refuse_foreign(place: paths.Place, agent: str, worktree: str) -> None:
    """git would work in another repository there: a copied worktree points to where it was copied from."""
    if not worktrees.admin_of(place.common, worktree):
        pointer = git_layout.pointed(worktree + "/.git", worktree)
        raise IbError(
            f"{worktree} is no worktree of this repository",
            cause=f"its .git names {pointer}" if pointer else "",
            hint=f"ib diff {agent} --committed; or git worktree repair {quoted(worktree)}",
        )
