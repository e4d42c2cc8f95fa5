"""What is known of the agents → who there is, in which state, under whom."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ibstatus.model.records import Agent
from ibstatus.rules import ages

STATES = ("creating", "running", "compacting", "waiting", "complete", "rate_limited", "stopped", "unknown")
STARTS_WITHIN = 60.0
PROMPT = 60
UNCOMMITTED = "uncommitted"  # its session is over, and work lies in its worktree that no commit has


class Told(NamedTuple):
    """What an agent's hooks said last of its state, and when."""

    state: str
    reason: str
    at: float


class Known(NamedTuple):
    """All evidence on one agent. `session`: is its tmux session there; None when tmux cannot be asked."""

    id: str
    meta: Mapping[str, Any]
    session: bool | None
    told: Told | None
    problem: str = ""


def state_of(known: Known, now: float) -> Told:
    """The state, its reason, and since when."""
    created = created_of(known.meta)
    started = known.meta.get("started")
    began = float(started) if isinstance(started, int | float) else created
    young = began is not None and -1 < now - began < STARTS_WITHIN
    if known.session is False and "tmux_session" not in known.meta and (known.told is not None or not young):
        # Made by hand: it never had a session of ours that could have ended, and its hooks are all there is to go by.
        return known.told or Told("unknown", "", created or now)
    if known.session is False:
        unborn = young and known.told is None and started is None
        return Told("creating", "", created or now) if unborn else stopped(known, now)
    if known.told is not None:
        return known.told
    return Told("creating" if young else "unknown", "", created or now)


def stopped(known: Known, now: float) -> Told:
    said = known.told
    if said is not None and (said.state == "stopped" or (said.state, said.reason) == ("waiting", UNCOMMITTED)):
        return said
    return Told("stopped", "", now)


def told(event: Mapping[str, Any]) -> tuple[str, Told] | None:
    """(agent, what it said) of an `agent.state` or `agent.stopped` event."""
    who, kind = event.get("who"), event.get("kind")
    state = "stopped" if kind == "agent.stopped" else event.get("state")
    if not isinstance(who, str) or kind not in ("agent.state", "agent.stopped") or state not in STATES:
        return None
    reason = event.get("reason")
    at = ages.epoch(str(event.get("t", "")))
    return who, Told(str(state), reason if isinstance(reason, str) else "", at or 0.0)


def fleet(known: Sequence[Known], before: Mapping[str, Agent], now: float) -> list[Agent]:
    """All agents, oldest first. `before`: the last fleet, from which an unchanged state keeps its `since`."""
    there = {one.id for one in known}
    states = {one.id: state_of(one, now) for one in known}
    managers = {one.id: manager_of(one.meta) for one in known}
    found = []
    for one in known:
        state = states[one.id]
        children = [name for name, manager in managers.items() if manager == one.id and name != one.id]
        manager = managers[one.id]
        found.append(
            Agent(
                id=one.id,
                state=state.state,
                age=age_of(one.meta, now),
                prompt=prompt_of(one.meta),
                children=len(children),
                children_complete=sum(states[name].state == "complete" for name in children),
                manager=manager if manager in there else None,
                reason=state.reason,
                since=since(state, before.get(one.id)),
                created=created_of(one.meta),
                model=text(one.meta.get("model")),
                worker=one.meta.get("worker") is True,
                problem=one.problem,
                marks=marks(one.meta),
            )
        )
    return sorted(found, key=lambda agent: (agent.created or 0.0, agent.id))


def since(state: Told, before: Agent | None) -> float:
    if before is not None and before.since is not None and (before.state, before.reason) == (state.state, state.reason):
        return before.since
    return state.at


def created_of(meta: Mapping[str, Any]) -> float | None:
    epoch = meta.get("created_epoch")
    if isinstance(epoch, int | float) and not isinstance(epoch, bool) and 0 < epoch < 1 << 40:
        return float(epoch)
    return ages.epoch(text(meta.get("created")))


def age_of(meta: Mapping[str, Any], now: float) -> str:
    created = created_of(meta)
    return "?" if created is None else ages.age(now - created)


def prompt_of(meta: Mapping[str, Any]) -> str:
    return text(meta.get("prompt")).strip().partition("\n")[0].strip()[:PROMPT]


def manager_of(meta: Mapping[str, Any]) -> str | None:
    manager = meta.get("manager")
    return manager if isinstance(manager, str) and manager and manager != meta.get("id") else None


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def lined_up(agents: Sequence[Agent]) -> Iterator[tuple[str, Agent]]:
    """Depth first, with the branches drawn before each agent. Agents in a circle of managers start at the oldest."""
    below: dict[str | None, list[Agent]] = {}
    for agent in agents:
        below.setdefault(agent.manager, []).append(agent)
    shown: set[str] = set()

    def branch(agent: Agent, prefix: str, lead: str) -> Iterator[tuple[str, Agent]]:
        if agent.id in shown:
            return
        shown.add(agent.id)
        yield prefix, agent
        children = [child for child in below.get(agent.id, []) if child.id not in shown]
        for at, child in enumerate(children):
            last = at == len(children) - 1
            yield from branch(child, lead + ("└── " if last else "├── "), lead + ("    " if last else "│   "))

    for agent in below.get(None, []):
        yield from branch(agent, "", "")
    for agent in agents:
        yield from branch(agent, "", "")


def marks(meta: Mapping[str, Any]) -> list[str]:
    found = [text(meta.get("role"))] if meta.get("role") else []
    found += ["yolo"] if meta.get("yolo") is True else []
    return found + (["no-worktree"] if meta.get("worktree") is False else [])


def is_over(agent: Agent) -> bool:
    """Its session has ended."""
    return agent.state == "stopped" or (agent.state, agent.reason) == ("waiting", UNCOMMITTED)


def is_busy(agents: Sequence[Agent]) -> bool:
    """Is there anybody whose state may still change?"""
    return any(agent.state != "stopped" for agent in agents)
