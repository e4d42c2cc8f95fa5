"""reassign: an agent gets another manager, or none; whoever it concerns is told by mail.

Whom an agent leaves behind: its children get its manager, its open questions are settled; and the way back.
"""

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ibstatus.errors import DiskError, IbError, quoted
from ibstatus.mail import inbox, json_list, questions
from ibstatus.project import agent_meta, agents, authority, home, identity, logs, paths
from ibstatus.project.rules import authority as reassignment
from ibstatus.system import locks, timestamps

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
    workers = [record.id for record in agent_meta.records(place) if record.meta.get("worker") is True]
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


NOTE = "note"


def children(place: paths.Place, agent: str) -> list[str]:
    return sorted(name for name, manager in authority.managers(place).items() if manager == agent)


def reparent(place: paths.Place, names: Iterable[str], before: str, after: str, say: Callable[[str], None]) -> None:
    """Those that are still under `before` come under `after`; '' means at the top. A disk that refuses stops it: the
    removal is brought to its end later. A meta.json that nobody can read must not."""
    for name in names:
        if agent_meta.read(place, name).get("manager") != before:
            continue
        try:
            agent_meta.change(place, name, manager=after or None)
        except DiskError:
            raise
        except IbError as error:
            say(f"{name} could not be given another manager: {error}")
            continue
        tell_handover(place, name, before, after, say)


def tell_handover(place: paths.Place, name: str, before: str, after: str, say: Callable[[str], None]) -> None:
    """Whoever it concerns and is still there. A notice that cannot be left changes nothing."""
    now = time.time()
    text = f"Reassigned from {manager_name(before)} to {manager_name(after)}"
    logs.write(place, name, text, now)
    say(f"{name}: {text}")
    notices = [(name, f"[watchdog]: Your manager is {after or 'nobody now: you report to the user'}")]
    if after:
        notices.append((after, f"[watchdog for {name}]: {name} is yours now; before, it was of {manager_name(before)}"))
    for to, notice in notices:
        try:
            inbox.put(place, "cli", to, "system", True, notice, now)
        except (OSError, IbError):
            continue


def manager_name(manager: str) -> str:
    return f"'{manager}'" if manager else "root"


def give_back(place: paths.Place, names: Iterable[str], agent: str, since: str, say: Callable[[str], None]) -> None:
    """Its children, unless somebody has given them to another one since."""
    living = [name for name in names if (agent_meta.read(place, name).get("manager") or "") == since]
    for name in living:
        agent_meta.change(place, name, manager=agent)
        tell_handover(place, name, since, agent, say)


def open_questions(place: paths.Place, agent: str) -> list[str]:
    return [str(item["id"]) for item in questions.pending(place) if item.get("agent") == agent and "id" in item]


def settle(place: paths.Place, ids: Iterable[str], agent: str) -> None:
    """Nobody waits for these answers any more."""
    changed = {"status": questions.ACKNOWLEDGED, "acknowledged_at": timestamps.utc(time.time())}
    mark(place, set(ids), questions.PENDING, {**changed, NOTE: f"{agent} was removed"})


def ask_again(place: paths.Place, ids: Iterable[str], agent: str) -> None:
    """Only what its removal had settled."""
    mark(place, set(ids), questions.ACKNOWLEDGED, {"status": questions.PENDING}, f"{agent} was removed")


def mark(place: paths.Place, ids: set[str], status: str, new: dict[str, str], note: str = "") -> None:
    if not ids:
        return
    with locks.Lock(place.lock("questions")):
        loaded = json_list.load_to_change(place, place.questions, questions.KEY)
        found = [item for item in loaded.items if item.get("id") in ids and item.get("status") == status]
        for item in (one for one in found if not note or one.get(NOTE) == note):
            if note:
                item.pop(NOTE, None)
                item.pop("acknowledged_at", None)
            item.update(new)
        questions.save(place, "cli", loaded.items, time.time())
