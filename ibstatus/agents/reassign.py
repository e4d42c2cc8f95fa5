"""reassign: an agent gets another manager, or none; whoever it concerns is told by mail."""

from typing import NamedTuple

from ibstatus.errors import IbError, quoted
from ibstatus.mail import inbox
from ibstatus.project import agent_meta, agents, authority, fleet, home, identity, logs, paths
from ibstatus.project.rules import reassignment
from ibstatus.system import locks

LOCK = "reassign"


class Reassigned(NamedTuple):
    """`note` says why nothing had to be done."""

    agent: str
    before: str
    after: str
    note: str = ""


def reassign(place: paths.Place, caller: identity.Caller, given: str, parent: str, now: float) -> Reassigned:
    """`parent`: '' makes it an agent of the user. The files first; a notice that cannot be left changes nothing."""
    home.look(place)
    agent = authority.resolved(place, caller, given, "reassign")
    new = authority.resolved(place, caller, parent, "reassign to") if parent else ""
    if not new and caller.kind == identity.AGENT:
        raise IbError("An agent cannot give its agents to the user", hint="reassign to one of yours, or kill")
    if agent == caller.name:
        raise IbError("An agent cannot choose its own manager", hint='ib ask "…"')
    with locks.Lock(place.lock(LOCK)):  # two at once could make a circle
        return decided(place, agent, new, now)


def decided(place: paths.Place, agent: str, new: str, now: float) -> Reassigned:
    managers = authority.managers(place)
    workers = [record.id for record in fleet.records(place) if record.meta.get("worker") is True]
    word = reassignment.verdict(agent, new, managers, workers)
    text = reassignment.TEXTS.get(word, "").format(agent=agent, parent=new)
    if word.startswith("error"):
        raise IbError(text, hint="ib tree")
    done = Reassigned(agent, managers[agent], new, text)
    if word == "ok":
        agent_meta.change(place, agent, manager=new or None)
        tell(place, done, now)
    return done


def tell(place: paths.Place, done: Reassigned, now: float) -> None:
    agent, before, after = done.agent, done.before, done.after
    logs.write(place, agent, f"Reassigned from {named(before)} to {named(after)}", now)
    texts = (
        (before, f"[watchdog for {agent}]: {agent} is no longer yours; it was reassigned to {named(after)}"),
        (after, f"[watchdog for {agent}]: {agent} is yours now; before, it was of {named(before)}"),
        (agent, f"[watchdog]: Your manager is {after or 'nobody now: you report to the user'}"),
    )
    for to, text in texts:
        if to and agents.exists(place, to):
            try:
                inbox.put(place, "cli", to, "system", True, text, now)
            except OSError:
                continue


def named(manager: str) -> str:
    return quoted(manager) if manager else "root"
