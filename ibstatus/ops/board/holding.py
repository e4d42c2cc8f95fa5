"""Which tasks an agent of ib has: the one that it was spawned for, and those that it has claimed by itself. Written
down beside it, so that the supervisor keeps them while the agent lives, and its end gives them back."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ibstatus.board import opening
from ibstatus.model.board import Fence, Task
from ibstatus.rules import identity
from ibstatus.store import meta, places

LEASE = 900.0  # a dead agent's task returns after a quarter of an hour: time for `ib resume --all`
KEY = "claims"  # of meta.json; "task" is the one that it was spawned for

Tell = Callable[[list[Task]], None]


class Held(NamedTuple):
    fence: Fence
    lease: float


def fence_of(place: places.Place, agent: str) -> Fence | None:
    """None for an agent without a task."""
    return fence(agent, meta.read(place, agent))


def fence(agent: str, known: dict[str, Any]) -> Fence | None:
    task = known.get("task")
    if not isinstance(task, dict) or not isinstance(task.get("attempt"), int):
        return None
    return Fence(str(task.get("id")), agent, task["attempt"])


def of(place: places.Place, agent: str, known: Mapping[str, Any] | None = None) -> list[Held]:
    """What it has claimed by itself, on the board that we see; `known`: its meta.json, where that has been read."""
    mark = opening.mark_of(place)
    found = records(meta.read(place, agent) if known is None else known)
    return [Held(Fence(one["id"], agent, one["attempt"]), one["lease"]) for one in found if one["board"] == mark]


def is_elsewhere(place: places.Place, taken: Iterable[object]) -> bool:
    """Was any of these taken from another board than the one that we see? A DSN may stand in somebody's environment."""
    mark = opening.mark_of(place)
    return any(isinstance(one, dict) and one.get("board", mark) != mark for one in taken)


def records(known: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A foreign entry is passed over."""
    found = known.get(KEY)
    return [one for one in found if is_record(one)] if isinstance(found, list) else []


def is_record(one: object) -> bool:
    return (
        isinstance(one, dict)
        and isinstance(one.get("id"), str)
        and isinstance(one.get("attempt"), int)
        and isinstance(one.get("lease"), int | float)
        and isinstance(one.get("board"), str)
    )


def telling(place: places.Place, caller: identity.Caller, lease: float, tell: Tell) -> Tell:
    """Written down before it is told. Whoever asks for a short lease sees to it alone: it may be over before anybody
    looks."""
    if caller.kind != identity.AGENT or lease < LEASE or not meta.read(place, caller.name):
        return tell

    def kept(taken: list[Task]) -> None:
        keep(place, caller.name, [Held(Fence(one.id, caller.name, one.attempt), lease) for one in taken])
        try:
            tell(taken)
        except BaseException:
            drop(place, caller.name, [one.id for one in taken])
            raise

    return kept


def keep(place: places.Place, agent: str, held: Sequence[Held]) -> None:
    mark = opening.mark_of(place)
    new: list[dict[str, Any]] = [
        {"id": one.fence.task_id, "attempt": one.fence.attempt, "lease": one.lease, "board": mark} for one in held
    ]
    ids = {one.fence.task_id for one in held}
    meta.rework(place, agent, lambda known: {KEY: [*without(known, ids), *new]})
    watch_here(place)


def drop(place: places.Place, agent: str, ids: Sequence[str]) -> list[Held]:
    """Those that were there."""
    gone = [one for one in of(place, agent) if one.fence.task_id in ids]
    if gone:
        meta.rework(place, agent, lambda known: {KEY: without(known, ids)})
    return gone


def without(known: Mapping[str, Any], ids: Collection[str]) -> list[dict[str, Any]]:
    return [one for one in records(known) if one["id"] not in ids]


@contextmanager
def leaving(place: places.Place, caller: identity.Caller, ids: Sequence[str]) -> Iterator[None]:
    """Before the board hears that it is over, so that the supervisor does not take it for lost; kept when refused."""
    gone = drop(place, caller.name, ids) if caller.kind == identity.AGENT else []
    try:
        yield
    except BaseException:
        if gone:
            keep(place, caller.name, gone)
        raise


def watch_here(place: places.Place) -> None:
    """A supervisor that was begun with another DSN would look for the task in vain: it makes room for one with ours."""
    import psutil  # most commands of the board keep nothing

    from ibstatus.drivers import daemon

    process = daemon.holder(place)
    if process is None:
        return
    try:
        known = process.environ().get(opening.VARIABLE, "")
    except psutil.Error:
        return
    if known != os.environ.get(opening.VARIABLE, ""):
        daemon.stop(place)


def attempt_of(place: places.Place, agent: str, id: str) -> int | None:
    """In which attempt it has this task, whether it was spawned for it or has claimed it."""
    known = meta.read(place, agent)
    spawned = fence(agent, known)
    held = {one.fence.task_id: one.fence.attempt for one in of(place, agent, known)}
    return held.get(id, spawned.attempt if spawned is not None and spawned.task_id == id else None)
