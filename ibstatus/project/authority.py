"""May this caller act on that agent? Judged from what is written at the root, where no agent can write."""

from ibstatus.errors import IbError
from ibstatus.project import agent_meta, agents, identity, paths
from ibstatus.project.rules import authority


def managers(place: paths.Place) -> dict[str, str]:
    """agent → its manager, '' without a living one."""
    found = {record.id: record.meta.get("manager") for record in agent_meta.records(place)}
    return {name: manager if isinstance(manager, str) and manager in found else "" for name, manager in found.items()}


def check(place: paths.Place, caller: identity.Caller, target: str, verb: str) -> None:
    """Raise what the caller is told; `target` is an agent's whole id."""
    why = authority.refusal(caller, target, managers(place), verb)
    if why:
        manager = agents.living_manager(place, caller.name)
        hint = f'ib send {manager} "…"' if manager else 'ib ask "…"'
        raise IbError(why, hint=hint)


def resolved(place: paths.Place, caller: identity.Caller, given: str, verb: str) -> str:
    """The agent that is meant, if the caller may act on it."""
    agent = agents.resolve(place, given)
    check(place, caller, agent, verb)
    return agent
