"""The fleet as it is now: agents, open messages and questions, who listens."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

import ibstatus
from ibstatus.claude import sessions as session
from ibstatus.claude.screens import user_rules
from ibstatus.mail import listener_reader, messages, questions, wake_state
from ibstatus.model.fleet import Agent, Snapshot, Wake
from ibstatus.project import agent_meta as files
from ibstatus.project import home, paths, supervisor_process
from ibstatus.state import hook_history, snapshot, transcript_check
from ibstatus.state import look as sight
from ibstatus.state.rules import fleet
from ibstatus.state.rules.known import Known, Sight, Told
from ibstatus.state.rules.screen_history import AGAIN, after, is_unproven
from ibstatus.state.snapshot_fresh import STALE_AFTER as STALE_AFTER
from ibstatus.state.snapshot_fresh import is_fresh
from ibstatus.system import disk, timestamps
from ibstatus.system.text import times
from ibstatus.system.tmux import server


class Seen(NamedTuple):
    """One look at everything."""

    agents: list[Agent]
    messages: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    listening: list[str]
    waiting: bool = False


def look(
    place: paths.Place,
    told: hook_history.States,
    before: dict[str, Agent],
    now: float,
    sights: Mapping[str, Sight] | None = None,
    records: Sequence[files.Record] | None = None,
    reading: transcript_check.Reading | None = None,
) -> Seen:
    """Every source once; one that cannot be read is unknown, not absent. `sights`: what the supervisor's scan has seen;
    without them the terminals are looked at here."""
    records = files.records(place) if records is None else records
    said = told.catch_up(now, [record.id for record in records]) if records else {}
    if sights is None:
        sights, now = looked(place, records, said, now)
        said = told.catch_up(now)
    doubts = (transcript_check.Reading(place) if reading is None else reading).begin(now)
    return Seen(
        judged([known_of(record, said, sights, doubts) for record in records], before, now),
        messages.open_ones(place).items,
        questions.pending(place),
        listener_reader.listeners(place),
        wake_state.is_anybody_waiting(place),
    )


def looked(
    place: paths.Place, records: Sequence[files.Record], said: Mapping[str, Told], now: float
) -> tuple[dict[str, Sight], float]:
    """A look of our own, and when it was made; at some a second one, for what counts only once it has held."""
    if not records:
        return {}, now
    rules, targets = user_rules.of(place), sight.targets(place, records, said)
    seen = sight.look(targets, now, rules)
    again = [one for one in targets if is_unproven(seen[one.agent], said.get(one.agent), now)]
    if not again:
        return seen, now
    time.sleep(AGAIN)
    for name, found in sight.look(again, now + AGAIN, rules).items():
        seen[name] = after(seen[name], found, now + AGAIN)
    return seen, now + AGAIN


def judged(known: list[Known], before: Mapping[str, Agent], now: float) -> list[Agent]:
    """One agent whose evidence no rule can take is that agent's problem, nobody else's."""
    try:
        return fleet.fleet(known, before, now)
    except Exception:
        return fleet.fleet(
            [one if (why := trouble(one, now)) == "" else broken(one, why) for one in known], before, now
        )


def trouble(known: Known, now: float) -> str:
    try:
        fleet.fleet([known], {}, now)
    except Exception as error:
        return f"it could not be judged: {type(error).__name__}: {error}"
    return ""


def broken(known: Known, why: str) -> Known:
    return Known(known.id, {"id": known.id}, None, None, why)


def known_of(
    record: files.Record, said: Mapping[str, Told], seen: Mapping[str, Sight], doubts: transcript_check.Reading
) -> Known:
    shown = seen.get(record.id)
    there = None if shown is None or shown.there is None else shown.there and not shown.dead
    told = said.get(record.id)
    also = doubts.where_in_doubt(record, told, shown)
    return Known(record.id, record.meta, there, told, record.problem, shown, also)


def sessions(place: paths.Place, records: list[files.Record]) -> dict[str, bool | None]:
    """Of each agent: is its session there? None where tmux cannot be asked. Each socket is asked once."""
    sockets = {record.id: session.socket_of(place, record) for record in records}
    there = {socket: server.sessions(socket) for socket in set(sockets.values())}
    found: dict[str, bool | None] = {}
    for record in records:
        names = there[sockets[record.id]]
        found[record.id] = None if names is None else files.session_of(place, record) in names
    return found


def snapshot_of(seen: Seen, seq: int, now: float) -> Snapshot:
    return Snapshot(
        seq, timestamps.utc(now), ibstatus.__version__, seen.agents, seen.messages, seen.questions, Wake(seen.listening)
    )


def by_id(agents: list[Agent]) -> dict[str, Agent]:
    return {agent.id: agent for agent in agents}


def show(place: paths.Place) -> Snapshot:
    """The published snapshot while it is true; otherwise a look of our own, so that nobody is ever shown an old one."""
    if not home.format_of(place) and home.is_kept(place) and not home.is_elsewhere(place):
        home.enter(place)  # after `git clean`, also where somebody has begun to write there since
    if not disk.exists(place.home):
        return snapshot_of(Seen([], [], [], []), 0, time.time())
    return msgspec.structs.replace(now := shown(place), wake=woken(place, now.wake))


def woken(place: paths.Place, wake: Wake) -> Wake:
    """What would wake the user's session changes with every turn: it is asked, not published."""
    primary = wake_state.primary(place)
    return Wake(wake.listening, primary, wake_state.armed(place, primary)) if primary else wake


def shown(place: paths.Place) -> Snapshot:
    published = snapshot.read(place, ibstatus.__version__)
    if published is not None and supervisor_process.is_running(place) and is_fresh(place, published[1], time.time()):
        return of_now(published[0], time.time())
    before = by_id(published[0].agents) if published is not None else {}
    seen = look(place, hook_history.States(place), before, time.time())
    return snapshot_of(seen, published[0].seq if published is not None else 0, time.time())


def of_now(found: Snapshot, now: float) -> Snapshot:
    """Nothing has changed since but the ages."""
    aged = [
        one if one.created is None else msgspec.structs.replace(one, age=times.age(now - one.created))
        for one in found.agents
    ]
    return msgspec.structs.replace(found, agents=aged)
