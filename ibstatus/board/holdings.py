"""Which tasks an agent of ib has: the one that it was spawned for, and those that it has claimed by itself. Written
down beside it, so that the supervisor keeps them while the agent lives, and its end gives them back."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ibstatus.board import opening
from ibstatus.board.claim import Tell
from ibstatus.board.rules import validation as rule
from ibstatus.errors import IbError, refused
from ibstatus.model.board import Fence, Task
from ibstatus.project import agent_meta, identity, paths

LEASE = 900.0  # a dead agent's task returns after a quarter of an hour: time for `ib resume --all`


class Held(NamedTuple):
    fence: Fence
    lease: float

    @property
    def is_kept(self) -> bool:
        """Whoever asks for a short lease sees to it alone: it may be over before anybody looks."""
        return self.lease >= LEASE


def fence_of(place: paths.Place, agent: str) -> Fence | None:
    """None for an agent that was not spawned for a task."""
    return fence(agent, agent_meta.read(place, agent))


def fence(agent: str, known: Mapping[str, Any]) -> Fence | None:
    task = known.get(agent_meta.TASK)
    if not isinstance(task, dict) or not isinstance(task.get("attempt"), int):
        return None
    return Fence(str(task.get("id")), agent, task["attempt"])


def of(place: paths.Place, agent: str, known: Mapping[str, Any] | None = None) -> list[Held]:
    """What it has claimed by itself, on the board that we see; `known`: its meta.json, where that has been read."""
    mark = opening.mark_of(place)
    found = records(agent_meta.read(place, agent) if known is None else known)
    return [Held(Fence(one["id"], agent, one["attempt"]), one["lease"]) for one in found if one["board"] == mark]


def is_elsewhere(place: paths.Place, taken: Iterable[object]) -> bool:
    """Was any of these taken from another board than the one that we see? A DSN may stand in somebody's environment."""
    mark = opening.mark_of(place)
    return any(isinstance(one, dict) and one.get("board", mark) != mark for one in taken)


def records(known: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A foreign entry is passed over."""
    found = known.get(agent_meta.CLAIMS)
    return [one for one in found if is_record(one)] if isinstance(found, list) else []


def is_record(one: object) -> bool:
    if not isinstance(one, dict) or not all(isinstance(one.get(key), str) for key in ("id", "board")):
        return False
    attempt, lease = one.get("attempt"), one.get("lease")
    if isinstance(attempt, bool) or isinstance(lease, bool) or not isinstance(attempt, int):
        return False
    return isinstance(lease, int | float) and 1 <= lease <= rule.LONGEST_LEASE


def telling(
    place: paths.Place, caller: identity.Caller, lease: float, tell: Tell, remark: Callable[[str], None]
) -> Tell:
    """An agent's claims are written down once they are told: what it has never heard of must not be kept for it."""
    if caller.kind != identity.AGENT:
        return tell

    def kept(taken: list[Task]) -> None:
        tell(taken)
        try:
            keep(place, caller.name, [Held(Fence(one.id, caller.name, one.attempt), lease) for one in taken])
        except (IbError, OSError) as error:
            why = error if isinstance(error, IbError) else refused("write it down", error)
            remark(f"The lease is not extended for you: {why.message}")

    return kept


def keep(place: paths.Place, agent: str, held: Sequence[Held]) -> None:
    """The very task that it was spawned for, taken once more, stays that one."""
    mark = opening.mark_of(place)

    def change(known: dict[str, Any]) -> dict[str, Any]:
        spawned, task = fence(agent, known), known.get(agent_meta.TASK)
        new: dict[str, Any] = {
            agent_meta.CLAIMS: [one for one in records(known) if one["id"] not in {it.fence.task_id for it in held}]
        }
        for one in held:
            entry = {"id": one.fence.task_id, "attempt": one.fence.attempt, "board": mark}
            if spawned is not None and spawned.task_id == one.fence.task_id and not is_elsewhere(place, [task]):
                new[agent_meta.TASK] = entry
            else:
                new[agent_meta.CLAIMS].append({**entry, "lease": one.lease})
        return new

    agent_meta.rework(place, agent, change)


def extended(place: paths.Place, caller: identity.Caller, fence: Fence, lease: float) -> None:
    """From now on as long as it said last."""
    if caller.kind == identity.AGENT and any(one.fence == fence for one in of(place, caller.name)):
        keep(place, caller.name, [Held(fence, lease)])


def drop(place: paths.Place, agent: str, fences: Sequence[Fence]) -> list[Fence]:
    """Those that were there: this attempt, no later one."""
    mark, gone = opening.mark_of(place), list[Fence]()

    def change(known: dict[str, Any]) -> dict[str, Any]:
        left = []
        for one in records(known):
            found = Fence(one["id"], agent, one["attempt"])
            if one["board"] == mark and found in fences:
                gone.append(found)
            else:
                left.append(one)
        return {agent_meta.CLAIMS: left}

    if any(one.fence in fences for one in of(place, agent)):
        agent_meta.rework(place, agent, change)
    return gone


def ended(place: paths.Place, caller: identity.Caller, fences: Sequence[Fence]) -> None:
    """It has said itself that these are over. Where that cannot be written down, the supervisor finds it out."""
    if caller.kind == identity.AGENT:
        try:
            drop(place, caller.name, fences)
        except (IbError, OSError):
            return


def watch_here(place: paths.Place) -> None:
    """A supervisor that was begun with another DSN would look for the task in vain: it makes room for one with ours."""
    import psutil  # most commands of the board keep nothing

    from ibstatus.project import supervisor_process

    process = supervisor_process.holder(place)
    if process is None:
        return
    try:
        known = process.environ().get(opening.VARIABLE, "")
    except psutil.Error:
        return
    if known != os.environ.get(opening.VARIABLE, ""):
        supervisor_process.stop(place)


def attempt_of(place: paths.Place, agent: str, id: str) -> int | None:
    """In which attempt it has this task, whether it was spawned for it or has claimed it."""
    known = agent_meta.read(place, agent)
    spawned = fence(agent, known)
    held = {one.fence.task_id: one.fence.attempt for one in of(place, agent, known)}
    return held.get(id, spawned.attempt if spawned is not None and spawned.task_id == id else None)
