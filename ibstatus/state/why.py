"""why: all evidence on one agent, looked at now, and which of it decides.

info: all that is known of one agent.
"""

import time
from collections.abc import Mapping
from typing import Any

import ibstatus
from ibstatus.claude import client, sessions
from ibstatus.claude.screens import user_rules
from ibstatus.claude.screens.rules_file import Rules
from ibstatus.mail import inbox
from ibstatus.model.fleet import Agent
from ibstatus.project import agent_meta, events, paths, supervisor_process
from ibstatus.state import fleet as current_fleet
from ibstatus.state import hook_history, look, snapshot, transcript_check
from ibstatus.state.rules import evidence, fleet, screen_history, session_end, tmux_outage, why_text
from ibstatus.state.rules.evidence import Evidence, Verdict
from ibstatus.state.rules.known import Known, Sight
from ibstatus.system import disk
from ibstatus.system.process import status, user_processes
from ibstatus.system.tmux import server

LOOKS, BETWEEN = 4, 0.15  # an idle prompt counts once it has held
EVENTS = 5


def why(place: paths.Place, agent: str) -> why_text.Why:
    record = agent_meta.record_of(place, agent) or agent_meta.Record(agent, {})
    told = hook_history.States(place).catch_up(time.time(), [agent]).get(agent)
    [target] = look.targets(place, [record], {})
    seen = looked(target, user_rules.of(place))._replace(suspended=False, gone=False)  # asked below, in full
    where = where_of(target, seen)
    also = (of_process(where.pid, seen, record.meta), transcript_check.tried(place, record))
    known = session_end.heeded(Known(agent, record.meta, seen.there, told, record.problem, seen, also))
    now = time.time()
    found = fleet.evidence_of(known, now)
    last = published(place, agent)
    kept = tmux_outage.kept(known, last)
    verdict = kept._replace(lost=tmux_outage.older(found)) if kept is not None else evidence.judge(found, now)
    return why_text.Why(
        id=agent,
        state=verdict.state,
        reason=verdict.reason,
        source=verdict.source,
        since=since_of(verdict, last),
        because=verdict.why,
        note=verdict.note or record.problem,
        asks=verdict.asks,
        said=known.told.said if known.told else "",
        silent=known.told.silent if known.told else False,
        evidence=why_text.pieces(found, verdict, now),
        where=where,
        transcript=client.of(record.meta).transcript_of(place, agent),
        events=last_events(place, agent),
        published=why_text.heading(last.state, last.reason, last.note) if last is not None else "",
        lost_worktree=agent_meta.lost_worktree(place, agent),
    )


def published(place: paths.Place, agent: str) -> Agent | None:
    """None while no supervisor runs."""
    found = snapshot.read(place, ibstatus.__version__) if supervisor_process.is_running(place) else None
    return next((one for one in found[0].agents if one.id == agent), None) if found is not None else None


def since_of(verdict: Verdict, last: Agent | None) -> float:
    """Who has watched for longer knows since when it lasts."""
    return min(fleet.since(verdict, last), verdict.at)


def looked(target: look.Target, rules: Rules) -> Sight:
    """As often as it takes to know whether a prompt line holds."""
    before: Sight | None = None
    for _ in range(LOOKS):
        now = time.time()
        found = screen_history.after(before, look.look([target], now, rules)[target.agent], now)
        if found.shown is None or not found.shown.idle or now - found.at >= evidence.HELD:
            return found
        before = found
        time.sleep(BETWEEN)
    return found


def where_of(target: look.Target, seen: Sight) -> why_text.Place:
    """Without tmux it is still said where it would be."""
    socket, name = target.socket, target.session
    pane = (server.panes(socket) or {}).get(name) if seen.there else None
    if seen.there is None:
        return why_text.Place(socket, name, answers=False)
    return why_text.Place(socket, name) if pane is None else why_text.Place(socket, name, pane.id, pane.pid)


def of_process(pid: int, seen: Sight, meta: Mapping[str, Any]) -> Evidence:
    """The client below the pane's own process, which is its launcher."""
    now = time.time()
    if seen.there is None:
        return Evidence(evidence.PROCESS, "", at=now, seen=now, note="tmux, which knows them, does not answer")
    if not pid or seen.dead:
        return Evidence(evidence.PROCESS, "", at=now, seen=now, note="nothing is known of its processes")
    known = user_processes.family(pid)
    found = user_processes.clients(pid, known)
    if not known:
        return Evidence(evidence.PROCESS, "", at=now, seen=now, note=f"the process {pid} is gone")
    if not found and fleet.is_young(meta, now):
        return Evidence(evidence.PROCESS, "", at=now, seen=now, note="the client is not there yet")
    if not found:
        return Evidence(evidence.PROCESS, "stopped", at=now, seen=now, note=evidence.GONE)
    if status.is_suspended(pid):
        return Evidence(evidence.PROCESS, "waiting", evidence.SUSPENDED, now, now, evidence.STOPPED)
    pids = ", ".join(str(one.pid) for one in found[:3])
    return Evidence(evidence.PROCESS, "", at=now, seen=now, note=f"the client runs (pid {pids})")


def last_events(place: paths.Place, agent: str) -> list[dict[str, Any]]:
    try:
        return [event for event in events.read(place) if event.get("who") == agent][-EVENTS:]
    except OSError:
        return []


TWICE = ("created_epoch", "started", "tmux_session", "tmux_socket")  # said in another form
LAST = "prompt"  # it may be long: it stands below everything else


def info(place: paths.Place, agent: str) -> dict[str, Any]:
    """meta.json as it is written, and under `now` how things stand."""
    shown = next((one for one in current_fleet.show(place).agents if one.id == agent), None)
    where = sessions.of(place, agent)
    pane = where.pane()
    folder = place.agent_dir(agent)
    now: dict[str, Any] = {
        "state": shown.state if shown else "unknown",
        "reason": shown.reason if shown else "",
        "age": shown.age if shown else "?",
        "session": where.name if pane else None,
        "socket": where.socket,
        "pane": pane.id if pane else None,
        "pid": pane.pid if pane else None,
        "folder": folder,
        "worktree": folder + "/repo" if disk.exists(folder + "/repo/.git") else None,
        "transcript": sessions.client_of(place, agent).transcript_of(place, agent) or None,
        "log": folder + "/agent.log",
        "unread": len(inbox.unread(place, agent).ids),
    }
    if shown and shown.problem:
        now["problem"] = shown.problem
    return {**agent_meta.read(place, agent), "id": agent, "now": now}


def rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """What is worth a line: nothing that is empty, no marks of JSON."""
    said = {key: value for key, value in {**found, **found["now"]}.items() if key not in ("now", LAST, *TWICE)}
    shown = [(key, plain(value)) for key, value in said.items() if value not in (None, "", [], False)]
    return [*shown, *([(LAST, plain(found[LAST]))] if found.get(LAST) else [])]


def plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(plain, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain(one)}" for key, one in value.items())
    return "yes" if value is True else str(value)
