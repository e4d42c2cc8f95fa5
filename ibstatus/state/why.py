"""why: all evidence on one agent, looked at now, and which of it decides."""

import time
from collections.abc import Mapping
from typing import Any

import ibstatus
from ibstatus.claude import clients
from ibstatus.claude.screens import user_rules
from ibstatus.claude.screens.rules_file import Rules
from ibstatus.model.fleet import Agent
from ibstatus.project import agent_worktree, events, paths, supervisor_process
from ibstatus.project import fleet as records
from ibstatus.state import hook_history, look, snapshot, transcript_check
from ibstatus.state.rules import evidence, fleet, screen_history, session_end, tmux_outage, why_text
from ibstatus.state.rules.evidence import Evidence, Verdict
from ibstatus.state.rules.known import Known, Sight
from ibstatus.system.process import status, user_processes
from ibstatus.system.tmux import server

LOOKS, BETWEEN = 4, 0.15  # an idle prompt counts once it has held
EVENTS = 5


def why(place: paths.Place, agent: str) -> why_text.Why:
    record = records.record_of(place, agent) or records.Record(agent, {})
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
        transcript=clients.of(record.meta).transcript_of(place, agent),
        events=last_events(place, agent),
        published=why_text.heading(last.state, last.reason, last.note) if last is not None else "",
        lost_worktree=agent_worktree.lost_worktree(place, agent),
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
