"""The last word on a session's state: agents/<id>/standing, notify/standing/<session> for a primary. One JSON line.

It keeps an unchanged state from being noted again. What others go by is the event in the history.
"""

from ibstatus.claude import hook_events
from ibstatus.model import constants
from ibstatus.project import names, paths
from ibstatus.system import disk, jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ibstatus.claude.hook_events import Standing

LONGEST = 4096
LONGEST_ID = 200
FLAGS = disk.O_RDWR | disk.O_NOFOLLOW | disk.O_NONBLOCK | disk.O_CLOEXEC
SET_BACK = 3600.0  # a clock that went back by less than this: the order of events is worth more than their times


def working(place: paths.Place, agent: str, session: str, now: float, began: bool = True, mono: float = 0.0) -> None:
    """A turn begins or goes on: whatever the session waited for, it has it."""
    note(place, agent, session, "UserPromptSubmit" if began else "PostToolBatch", {}, now, mono)


def note(
    place: paths.Place,
    agent: str,
    session: str,
    name: str,
    body: "dict[str, Any]",
    now: float,
    mono: float = 0.0,
) -> None:
    """One event of a session. Only a change is noted; of a session or agent that nobody knows, nothing.

    `mono`: when its hook began. A hook that is slower than the next one of its session does not undo what that said."""
    path = path_of(place, agent, session)
    if not path:
        return
    known = read(path)
    if not agent and name == "UserPromptSubmit" and (known.state, known.reason) == (hook_events.RUNNING, ""):
        return  # only of agents another turn is news
    if hook_events.after(name, body, known) is None and not (agent and mono > known.mono):
        return
    fd = opened(path, agent)
    if fd < 0:
        return
    try:
        disk.flock(fd, disk.LOCK_EX)  # two hooks of a session: the history gets their words in the order of this file
        take(fd, place, agent, session, name, body, now, mono)
    finally:
        disk.close(fd)


def take(
    fd: int, place: paths.Place, agent: str, session: str, name: str, body: "dict[str, Any]", now: float, mono: float
) -> None:
    last = parsed(disk.pread(fd, LONGEST, 0))
    if hook_events.is_late(mono, now, last):
        corrected = hook_events.late(name, body, last)
        if corrected is not None:
            corrected.mono = last.mono
            put(fd, corrected)
        return
    if hook_events.is_of_before(name, body, now - last.at, last):
        return
    new = hook_events.after(name, body, last)
    if new is None:
        if last.state and mono != last.mono:
            last.mono = mono or last.mono
            put(fd, last)
        return
    new.at = not_before(last, now)
    new.mono = mono or last.mono
    from ibstatus.project import logs  # only for what is new

    # The event first: after a kill in between it is noted twice, not never.
    logs.note(place, agent or names.cursor_file(session), new.at, event(agent, session, new))
    put(fd, new)


def not_before(last: "Standing", now: float) -> float:
    """What comes after the last word is no older, though the clock was set back."""
    return last.at if 0 < last.at - now < SET_BACK else now


def put(fd: int, new: "Standing") -> None:
    data = form(new)
    disk.pwrite(fd, data, 0)
    disk.ftruncate(fd, len(data))


def event(agent: str, session: str, new: "Standing") -> "dict[str, object]":
    who: dict[str, object] = {"who": agent} if agent else {"who": constants.PRIMARY, "session": session}
    if new.state == hook_events.STOPPED:
        return {"kind": "agent.stopped", **who, "reason": new.reason}
    found = {"kind": "agent.state", **who, "state": new.state, "reason": new.reason}
    if new.said:
        found["said"] = new.said
    if new.silent:
        found["silent"] = True
    return found


def path_of(place: paths.Place, agent: str, session: str) -> str:
    """'' when it is not known whose session this is."""
    if agent:
        plain = "/" not in agent and "\0" not in agent and agent not in (".", "..") and len(agent) <= LONGEST_ID
        return place.agent_dir(agent) + "/standing" if plain else ""
    return f"{place.home}/notify/standing/{names.cursor_file(session)}" if session else ""


def opened(path: str, agent: str) -> int:
    """-1 when the agent is gone: nothing is made for it."""
    try:
        return disk.open(path, FLAGS | disk.O_CREAT, 0o600)
    except FileNotFoundError:
        if agent:
            return -1
        disk.make_dirs(path.rpartition("/")[0])
        return disk.open(path, FLAGS | disk.O_CREAT, 0o600)


def read(path: str) -> "Standing":
    """An empty one when nothing was noted yet."""
    try:
        fd = disk.open(path, disk.O_RDONLY | disk.O_NOFOLLOW | disk.O_NONBLOCK | disk.O_CLOEXEC)
    except OSError:
        return hook_events.Standing()
    try:
        return parsed(disk.pread(fd, LONGEST, 0))
    except OSError:
        return hook_events.Standing()
    finally:
        disk.close(fd)


def form(known: "Standing") -> bytes:
    value: dict[str, object] = {"state": known.state, "reason": known.reason, "at": known.at}
    if known.mono:
        value["mono"] = known.mono
    if known.before is not None:
        value["before"] = list(known.before)
    return jsonl.encode(value).encode() + b"\n"


def parsed(data: bytes) -> "Standing":
    """Torn or foreign: as if nothing had been noted, so that the next word is noted."""
    try:
        value = jsonl.decode(data.partition(b"\n")[0].decode())
    except ValueError:
        return hook_events.Standing()
    if not isinstance(value, dict):
        return hook_events.Standing()
    state, reason, at, before = (value.get(key) for key in ("state", "reason", "at", "before"))
    if not isinstance(state, str) or not isinstance(reason, str) or not isinstance(at, int | float):
        return hook_events.Standing()
    found = hook_events.Standing(state, reason, float(at))
    if isinstance(before, list) and len(before) == 2 and all(isinstance(part, str) for part in before):
        found.before = (before[0], before[1])
    mono = value.get("mono")
    found.mono = float(mono) if isinstance(mono, int | float) else 0.0
    return found


def forget(place: paths.Place, session: str) -> None:
    """The session is over."""
    from ibstatus.system import atomic

    path = path_of(place, "", session)
    if path:
        atomic.forget(path)
