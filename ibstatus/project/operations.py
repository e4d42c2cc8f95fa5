"""<git>/ib/operations/<agent>.json: what is being done to an agent right now, so that a kill leaves nothing half done.

    with operations.begin(place, "kill", agent, by=…) as operation:
        operation.note(archived=path)       # durable, before the step that needs it
        …
        operation.done()

Left without `done` by an exception or a kill it stays, and the next command that looks finishes it or rolls it back.
The lock `work-<agent>` is held meanwhile, and stands outside of all others: it is taken before any of them.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from ibstatus.errors import IbError
from ibstatus.project import paths
from ibstatus.system import atomic, disk, jsonl, locks

PATIENCE = 10.0
STEP = 0.02
TEMPORARY = ".ib-tmp"


class Operation:
    """One thing being done to one agent. `facts` are what was noted of it."""

    def __init__(self, place: paths.Place, agent: str, lock: locks.Lock, facts: dict[str, Any]) -> None:
        self.place = place
        self.agent = agent
        self.lock = lock
        self.facts = facts

    @property
    def kind(self) -> str:
        return str(self.facts["kind"])

    def note(self, **facts: Any) -> None:
        """Durable when it returns."""
        self.facts.update(facts)
        path = path_of(self.place, self.agent)
        disk.make_dirs(path.rpartition("/")[0])
        atomic.put(path, json.dumps(self.facts).encode() + b"\n")

    def done(self) -> None:
        atomic.forget(path_of(self.place, self.agent))

    def __enter__(self) -> "Operation":
        return self

    def __exit__(self, *exc: object) -> None:
        self.lock.release()


def path_of(place: paths.Place, agent: str) -> str:
    return f"{place.safe}/operations/{agent}.json"


def lock_of(place: paths.Place, agent: str) -> str:
    """Beside what it guards: `git clean` must not take the one and leave the other."""
    return f"{place.safe}/locks/work-{agent}"


def begin(place: paths.Place, kind: str, agent: str, **facts: Any) -> Operation:
    """Waits a while for another command that is at work on this agent. What a dead one has left must be mended first:
    `ops/recover.everything` does it."""
    return begin_if(place, kind, agent, lambda: None, **facts)


def begin_if(place: paths.Place, kind: str, agent: str, check: Callable[[], None], **facts: Any) -> Operation:
    """The same; `check` may refuse once nobody else is at work on it."""
    lock = locks.Lock(lock_of(place, agent))
    until = time.monotonic() + PATIENCE
    while not lock.try_take():
        if time.monotonic() > until:
            raise IbError(f"Another command is at work on {agent}", hint="try again when it is done; ib list")
        time.sleep(STEP)
    left = read(place, agent)
    if left:
        lock.release()
        raise IbError(
            f"An earlier {left.get('kind')} of {agent} was not finished", hint="try again: it is mended first"
        )
    operation = Operation(place, agent, lock, {"kind": kind, "agent": agent, "at": time.time()})
    try:
        check()
        operation.note(**facts)
    except BaseException:
        lock.release()
        raise
    return operation


def unfinished(place: paths.Place) -> Iterator[Operation]:
    """What processes that are gone have left, each with its lock taken; the caller mends it and calls `done`."""
    try:
        names = disk.listdir(place.safe + "/operations")
    except OSError:
        return
    for agent in sorted({agent_of(name) for name in names} - {""}):
        lock = locks.Lock(lock_of(place, agent))
        if not lock.try_take():
            continue
        try:
            for name in names:
                if name.endswith(TEMPORARY) and agent_of(name) == agent:
                    atomic.forget(f"{place.safe}/operations/{name}")
            facts = read(place, agent)
            if facts:
                yield Operation(place, agent, lock, facts)
        finally:
            lock.release()


def open_ones(place: paths.Place) -> list[str]:
    """Agents to whom something is being done, or was begun and not finished."""
    try:
        names = disk.listdir(place.safe + "/operations")
    except OSError:
        return []
    return sorted({agent for name in names if (agent := agent_of(name)) and read(place, agent)})


def agent_of(name: str) -> str:
    """Whose record a file is, or was to become; '' for anything else."""
    agent, dot, rest = name.removeprefix(".").partition(".json")
    return agent if dot and (not rest or rest.endswith(TEMPORARY)) else ""


def read(place: paths.Place, agent: str) -> dict[str, Any]:
    try:
        value = jsonl.decode(disk.read_file(path_of(place, agent)).decode())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) and "kind" in value else {}


def is_at_work(place: paths.Place, agent: str) -> bool:
    """Is a living command at work on this agent?"""
    return locks.is_held(lock_of(place, agent))
