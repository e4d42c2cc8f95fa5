"""May this caller act on that agent? Judged from what is written at the root, where no agent can write."""

from ibstatus.errors import IbError
from ibstatus.rules import authority, identity
from ibstatus.store import agents, fleet, places


def managers(place: places.Place) -> dict[str, str]:
    """agent → its manager, '' without a living one."""
    found = {record.id: record.meta.get("manager") for record in fleet.records(place)}
    return {name: manager if isinstance(manager, str) and manager in found else "" for name, manager in found.items()}


def check(place: places.Place, caller: identity.Caller, target: str, verb: str) -> None:
    """Raise what the caller is told; `target` is an agent's whole id."""
    why = authority.refusal(caller, target, managers(place), verb)
    if why:
        manager = agents.living_manager(place, caller.name)
        hint = f'ib send {manager} "…"' if manager else 'ib ask "…"'
        raise IbError(why, hint=hint)


def resolved(place: places.Place, caller: identity.Caller, given: str, verb: str) -> str:
    """The agent that is meant, if the caller may act on it."""
    agent = agents.resolve(place, given)
    check(place, caller, agent, verb)
    return agent
