"""Waking agents that have mail and did not hear it yet: a draft went away, a dialog was answered, Esc ended a turn."""

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ibstatus.claude import hook_events
from ibstatus.errors import IbError, logged
from ibstatus.mail import inbox
from ibstatus.mail.rules import wake_line
from ibstatus.model.fleet import Agent
from ibstatus.project import paths
from ibstatus.supervisor.log import Log
from ibstatus.system import disk

LOOK_AGAIN = 1.0  # while one is being woken
Mark = tuple[int, int, int]
Heard = tuple[Mark, float | None]  # and since when it rests


class Waiting(NamedTuple):
    """An agent with mail: its state when we tried last, how often in vain, when to try again.
    `again`: it was told, and its turn came to nothing."""

    state: tuple[str, str]
    tries: int
    due: float
    again: bool = False

    @property
    def can_hear(self) -> bool:
        """One that has ended, or is held by a limit, waits for its next state, not for a time."""
        return self.state[0] not in (hook_events.STOPPED, hook_events.LIMITED)


class Rousing:
    """One agent after the other, beside the loop: each may take seconds."""

    def __init__(self, place: paths.Place, log: Log) -> None:
        self.place = place
        self.log = log
        self.quiet: dict[str, Heard] = {}  # inboxes as they were when nothing in them was unheard
        self.vain: dict[str, int] = {}  # how often they were told what no turn has taken in
        self.waiting: dict[str, Waiting] = {}
        self.said: dict[str, str] = {}  # what came of the last tries
        self.thread: threading.Thread | None = None

    def look(self, agents: Sequence[Agent], now: float) -> None:
        """One stat an agent, unless it has mail."""
        known = {agent.id for agent in agents}
        self.waiting = {name: entry for name, entry in self.waiting.items() if name in known}
        self.quiet = {name: mark for name, mark in self.quiet.items() if name in known}
        self.vain = {name: count for name, count in list(self.vain.items()) if name in known}
        for agent in agents:
            try:
                self.note(agent, now)
            except (OSError, IbError, ValueError) as error:
                self.log.complain("mail of " + agent.id, f"the mail of {agent.id} cannot be read: {logged(error)}")
            else:
                self.log.complain("mail of " + agent.id, "")
        if self.thread is not None and self.thread.is_alive():
            return
        due = [name for name, entry in self.waiting.items() if entry.due <= now and entry.can_hear]
        if due:
            self.start(lambda: self.rouse(due))

    def note(self, agent: Agent, now: float) -> None:
        mark = mark_of(self.place, agent.id)
        said = self.said.pop(agent.id, "")
        if mark is None:
            self.waiting.pop(agent.id, None)
            return
        heard = (mark, agent.since if wake_line.rests(agent.state, agent.reason) else None)
        if self.quiet.get(agent.id) == heard:
            self.waiting.pop(agent.id, None)
            return
        again = not inbox.unread(self.place, agent.id).ids
        if again and not self.is_unconfirmed(agent):
            self.quiet[agent.id] = heard
            self.waiting.pop(agent.id, None)
            if heard[1] is not None:
                self.vain.pop(agent.id, None)
            return
        state = (agent.state, agent.reason)
        before = self.waiting.get(agent.id)
        if before is None or before.state != state or before.again != again:
            vain = self.vain.get(agent.id, 0)
            self.waiting[agent.id] = Waiting(state, 0, now + (wake_line.pause(vain) if again else 0.0), again)
        elif said:
            self.waiting[agent.id] = Waiting(state, before.tries + 1, now + wake_line.pause(before.tries), again)

    def is_unconfirmed(self, agent: Agent) -> bool:
        """It was told something in a turn that ended before the agent took it in: an error, or Esc."""
        if not wake_line.rests(agent.state, agent.reason) or not inbox.unread(self.place, agent.id, True).ids:
            return False
        return inbox.told_at(self.place, agent.id) < (agent.since or 0.0)

    def again(self, now: float) -> float | None:
        """When the next look is due; None while nobody waits."""
        if self.thread is not None and self.thread.is_alive():
            return now + LOOK_AGAIN
        return min((entry.due for entry in self.waiting.values() if entry.can_hear), default=None)

    def start(self, work: Callable[[], None]) -> None:
        self.thread = threading.Thread(target=work, name="rousing", daemon=True)
        self.thread.start()

    def rouse(self, names: Sequence[str]) -> None:
        from ibstatus.mail import wake_agent  # it loads what types, which most supervisors never need

        for name in names:
            try:
                entry = self.waiting.get(name)
                again = entry is not None and entry.again
                if again:
                    self.vain[name] = self.vain.get(name, 0) + 1
                self.said[name] = wake_agent.rouse(self.place, name, again).state
            except Exception as error:  # the others are woken all the same
                self.said[name] = "unknown"
                self.log.complain("rousing " + name, f"could not wake {name}: {logged(error)}")
            else:
                self.log.complain("rousing " + name, "")


def mark_of(place: paths.Place, agent: str) -> Mark | None:
    try:
        status = disk.stat(inbox.path_of(place, agent))
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
