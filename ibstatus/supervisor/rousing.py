"""Waking agents that have mail and did not hear it yet: a draft went away, a dialog was answered, Esc ended a turn."""

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.model.records import Agent
from ibstatus.rules import rousing, standing
from ibstatus.store import disk, inbox, places
from ibstatus.supervisor.log import Log

LOOK_AGAIN = 1.0  # while one is being woken
Mark = tuple[int, int, int]


class Waiting(NamedTuple):
    """An agent with mail: its state when we tried last, how often in vain, when to try again."""

    state: tuple[str, str]
    tries: int
    due: float

    @property
    def can_hear(self) -> bool:
        """One that has ended waits for its next state, not for a time."""
        return self.state[0] != standing.STOPPED


class Rousing:
    """One agent after the other, beside the loop: each may take seconds."""

    def __init__(self, place: places.Place, log: Log) -> None:
        self.place = place
        self.log = log
        self.quiet: dict[str, Mark] = {}  # inboxes as they were when nothing in them was unheard
        self.waiting: dict[str, Waiting] = {}
        self.said: dict[str, str] = {}  # what came of the last tries
        self.thread: threading.Thread | None = None

    def look(self, agents: Sequence[Agent], now: float) -> None:
        """One stat an agent, unless it has mail."""
        known = {agent.id for agent in agents}
        self.waiting = {name: entry for name, entry in self.waiting.items() if name in known}
        self.quiet = {name: mark for name, mark in self.quiet.items() if name in known}
        for agent in agents:
            self.note(agent, now)
        if self.thread is not None and self.thread.is_alive():
            return
        due = [name for name, entry in self.waiting.items() if entry.due <= now and entry.can_hear]
        if due:
            self.start(lambda: self.rouse(due))

    def note(self, agent: Agent, now: float) -> None:
        mark = mark_of(self.place, agent.id)
        said = self.said.pop(agent.id, "")
        if mark is None or self.quiet.get(agent.id) == mark or not inbox.unread(self.place, agent.id).ids:
            if mark is not None:
                self.quiet[agent.id] = mark
            self.waiting.pop(agent.id, None)
            return
        state = (agent.state, agent.reason)
        before = self.waiting.get(agent.id)
        if before is None or before.state != state:
            self.waiting[agent.id] = Waiting(state, 0, now)
        elif said:
            self.waiting[agent.id] = Waiting(state, before.tries + 1, now + rousing.pause(before.tries))

    def again(self, now: float) -> float | None:
        """When the next look is due; None while nobody waits."""
        if self.thread is not None and self.thread.is_alive():
            return now + LOOK_AGAIN
        return min((entry.due for entry in self.waiting.values() if entry.can_hear), default=None)

    def start(self, work: Callable[[], None]) -> None:
        self.thread = threading.Thread(target=work, name="rousing", daemon=True)
        self.thread.start()

    def rouse(self, names: Sequence[str]) -> None:
        from ibstatus.ops import rouse  # it loads what types, which most supervisors never need

        for name in names:
            try:
                self.said[name] = rouse.rouse(self.place, name).state
            except (OSError, IbError) as error:
                self.said[name] = "unknown"
                self.log.complain("rousing " + name, f"could not wake {name}: {error}")


def mark_of(place: places.Place, agent: str) -> Mark | None:
    try:
        status = disk.stat(inbox.path_of(place, agent))
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
