"""wait: until agents are in a state, as `ib list` tells it. Woken when files change; a session's end shows in none."""

import logging
import os
import threading
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from ibstatus.errors import IbError, UsageError, quoted
from ibstatus.project import agents, paths
from ibstatus.state import fleet
from ibstatus.state.rules import fleet as rule

GONE = "gone"
DEFAULT = ("complete", "waiting", "stopped")
LOOK_EVERY = 1.0
TOGETHER = 0.05  # what happens within this time is looked at once
FRUITLESS = ("opened", "closed_no_write", "closed")


class Reached(NamedTuple):
    id: str
    state: str
    reason: str = ""


def states_of(given: str) -> tuple[str, ...]:
    """From `complete,waiting`."""
    states = tuple(word.strip() for word in given.split(",") if word.strip()) or DEFAULT
    for state in states:
        if state not in (*rule.STATES, GONE):
            known = ", ".join((*rule.STATES, GONE))
            raise UsageError(f"There is no state '{state}'", hint=f"one or more of {known}, with commas between them")
    return states


def resolved(place: paths.Place, given: Sequence[str], states: Sequence[str]) -> list[str]:
    """An agent that nobody knows is gone already, if that is what is waited for."""
    found = []
    for name in given:
        try:
            found.append(agents.resolve(place, name))
        except IbError:
            if GONE not in states or any(known.startswith(name) for known in agents.all_ids(place)):
                raise
            found.append(name)
    return list(dict.fromkeys(found))


def wait(
    place: paths.Place, given: Sequence[str], states: Sequence[str], some: bool, timeout: float | None
) -> Iterator[Reached]:
    """Each agent once it is in one of the states; `some`: the first one is enough. Raises when time is over, or when
    an agent is removed that can no longer come to it."""
    left = resolved(place, given, states)
    until = None if timeout is None else time.monotonic() + timeout
    with Changes(place) as changes:
        while left:
            now = {agent.id: Reached(agent.id, agent.state, agent.reason) for agent in fleet.show(place).agents}
            for name in list(left):
                reached = now.get(name, Reached(name, GONE))
                if reached.state in states:
                    left.remove(name)
                    yield reached
                    if some:
                        return
                elif reached.state == GONE and not agents.exists(place, name):
                    raise IbError(f"{name} was removed", hint="ib list")
            if not left:
                return
            if until is not None and time.monotonic() >= until:
                raise late(now, left, timeout)
            changes.wait(LOOK_EVERY if until is None else max(0.0, min(LOOK_EVERY, until - time.monotonic())))


def late(now: dict[str, Reached], left: Sequence[str], timeout: float | None) -> IbError:
    still = ", ".join(f"{name} is {now[name].state if name in now else GONE}" for name in left)
    return IbError(f"After {timeout:g} s {still}", hint=f"ib look {quoted(left[0])}")


class Changes(FileSystemEventHandler):
    """What hooks, commands and the supervisor write. Without a watch to be had, a look a second must do."""

    def __init__(self, place: paths.Place) -> None:
        self.home, self.spool, self.agents = place.home, place.spool, place.home + "/agents"
        self.news = threading.Event()
        self.observer = Observer()

    def __enter__(self) -> "Changes":
        logging.getLogger("watchdog").setLevel(logging.CRITICAL)  # it warns of what it is still told while it ends
        self.observer.start()
        for folder in (self.home, self.spool, self.agents):
            try:
                self.observer.schedule(self, folder)
            except OSError:
                continue
        return self

    def __exit__(self, *exc: object) -> None:
        self.observer.stop()
        self.observer.join(2)

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in FRUITLESS:
            return
        for path in (os.fsdecode(event.src_path), os.fsdecode(event.dest_path)):
            spooled = path.startswith(self.spool + "/") and path.endswith(".jsonl") and event.event_type == "modified"
            if spooled or path == self.home + "/status.json" or path.startswith(self.agents + "/"):
                self.news.set()

    def wait(self, seconds: float) -> None:
        if self.news.wait(seconds):
            time.sleep(min(TOGETHER, seconds))
        self.news.clear()
