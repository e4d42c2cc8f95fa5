"""nuke: all agents, or one with everybody below it. A full one also takes mail, listeners and the supervisor."""

import contextlib
import time
from collections.abc import Callable
from typing import NamedTuple

import psutil

from ibstatus.drivers import daemon, ending, tmux, tmux_gate
from ibstatus.ops import authority, kill, mail_away, recover, session
from ibstatus.rules import authority as family
from ibstatus.rules import identity
from ibstatus.store import config, fleet, home, operations, places, tap, undo_log

Say = Callable[[str], None]
STOPS_WITHIN = 3.0


class Plan(NamedTuple):
    """Agents, deepest first; `sessions`: names of tmux sessions that no agent has; `listeners`: readers."""

    agents: list[str]
    sessions: list[str]
    listeners: list[str]
    mail: bool
    full: bool

    @property
    def is_empty(self) -> bool:
        return not (self.agents or self.sessions or self.mail)


class Nuked(NamedTuple):
    closed: kill.Closed
    sessions: int
    archive: str
    undo: str


def plan(place: places.Place, caller: identity.Caller, given: str, say: Say) -> Plan:
    if not home.look(place):
        return Plan([], [], [], False, not given)
    recover.everything(place, say)
    managers = authority.managers(place)
    if given:
        agent = authority.resolved(place, caller, given, "nuke")
        return Plan([*family.below(agent, managers), agent], [], [], False, False)
    return Plan(deepest_first(managers), stray_sessions(place), tap.listeners(place), mail_away.is_any(place), True)


def deepest_first(managers: dict[str, str]) -> list[str]:
    """Also where managers go round in a circle."""
    depth = {name: len(list(family.above(name, managers))) for name in managers}
    return sorted(managers, key=lambda name: (-depth[name], name))


def socket_of(place: places.Place) -> str:
    return str(config.value(place, "tmux.socket"))


def stray_sessions(place: places.Place) -> list[str]:
    """Sessions of this repository that belong to no agent (any more)."""
    ident = fleet.repo_id(place)
    if not ident:
        return []
    known = {fleet.session_of(place, record) for record in fleet.records(place)}
    there = tmux.sessions(socket_of(place)) or frozenset()
    return sorted(name for name in there if name.startswith(f"ittybitty-{ident}-") and name not in known)


def nuke(place: places.Place, what: Plan, by: str, say: Say) -> Nuked:
    end_clients(place, what.agents)
    closed = kill.kill(place, what.agents, by, "nuked", say)
    group = closed.retired[0].undo if closed.retired else ""
    ended = sum(end_session(place, name) for name in what.sessions)
    archive = undo = ""
    if what.full:
        end_listeners(place, say)
        if not daemon.stop(place):
            say("The supervisor does not end")
        if mail_away.is_any(place):
            archive, undo = take_mail(place, by, group)
    return Nuked(closed, ended, archive, undo)


def end_clients(place: places.Place, agents: list[str]) -> None:
    """All at once; one by one they are closed afterwards. One that has no transcript keeps its terminal until then:
    what stands there is all that is left of it."""
    panes: dict[str, dict[str, tmux.Pane] | None] = {}
    first: list[psutil.Process] = []
    known: list[psutil.Process] = []
    for agent in agents:
        where = session.of(place, agent)
        if where.socket not in panes:
            panes[where.socket] = tmux.panes(where.socket)
        pane = (panes[where.socket] or {}).get(where.name)
        if pane is not None and not pane.dead and session.client_of(place, agent).has_begun(place, agent):
            family = ending.family(pane.pid)
            first += ending.clients(pane.pid, family)
            known += family
    with contextlib.ExitStack() as gates:
        for socket in panes:
            gates.enter_context(tmux_gate.changing(socket))
        ending.end(first, known, ending.LAUNCHER_PATIENCE * (1 + len(first) / 4))


def end_session(place: places.Place, name: str) -> bool:
    """With what runs in it, as an agent's own is ended."""
    pane = tmux.pane_of(socket_of(place), name)
    if pane is None:
        return False
    known = ending.family(pane.pid)
    with tmux_gate.changing(socket_of(place)):
        ending.end(ending.clients(pane.pid, known), known)
    tmux.end(socket_of(place), name)
    return True


def take_mail(place: places.Place, by: str, group: str) -> tuple[str, str]:
    """(the archive's folder, the name for undo)."""
    with operations.begin(place, "kill", undo_log.MAIL, by=by, group=group, mail=True, **{"as": "nuke"}) as op:
        archive = mail_away.take(op)
        op.done()
    return archive, str(op.facts["undo"])


def end_listeners(place: places.Place, say: Say) -> None:
    """Who holds a listener's lock and is one: the lock's file names it, the program's own words prove it."""
    for reader in tap.listeners(place):
        pid = tap.holder(place, reader)
        if not (pid.isdigit() and end_listener(int(pid))) or not is_free(place, reader):
            say(f"The listener {reader} does not end")


def end_listener(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        words = process.cmdline()
    except psutil.Error:
        return True
    return "listen" in words and ending.end([process], [process])


def is_free(place: places.Place, reader: str) -> bool:
    until = time.monotonic() + STOPS_WITHIN
    while reader in tap.listeners(place):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
