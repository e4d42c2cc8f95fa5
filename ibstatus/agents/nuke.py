"""nuke: all agents, or one with everybody below it. A full one also takes mail, listeners and the supervisor."""

import contextlib
import time
from collections.abc import Callable
from typing import NamedTuple

import psutil

from ibstatus.agents import kill, recover
from ibstatus.agents.undo import log, mail
from ibstatus.claude import sessions
from ibstatus.mail import listener_reader
from ibstatus.project import authority, config, fleet, home, identity, operations, paths, supervisor_process
from ibstatus.project.rules import authority as family
from ibstatus.system.process import user_processes
from ibstatus.system.tmux import connect_lock, server

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


def plan(place: paths.Place, caller: identity.Caller, given: str, say: Say) -> Plan:
    if not home.look(place):
        return Plan([], [], [], False, not given)
    recover.everything(place, say)
    managers = authority.managers(place)
    if given:
        agent = authority.resolved(place, caller, given, "nuke")
        return Plan([*family.below(agent, managers), agent], [], [], False, False)
    return Plan(
        deepest_first(managers), stray_sessions(place), listener_reader.listeners(place), mail.is_any(place), True
    )


def deepest_first(managers: dict[str, str]) -> list[str]:
    """Also where managers go round in a circle."""
    depth = {name: len(list(family.above(name, managers))) for name in managers}
    return sorted(managers, key=lambda name: (-depth[name], name))


def socket_of(place: paths.Place) -> str:
    return str(config.value(place, "tmux.socket"))


def stray_sessions(place: paths.Place) -> list[str]:
    """Sessions of this repository that belong to no agent (any more)."""
    ident = fleet.repo_id(place)
    if not ident:
        return []
    known = {fleet.session_of(place, record) for record in fleet.records(place)}
    there = server.sessions(socket_of(place)) or frozenset()
    return sorted(name for name in there if name.startswith(f"ittybitty-{ident}-") and name not in known)


def nuke(place: paths.Place, what: Plan, by: str, say: Say) -> Nuked:
    end_clients(place, what.agents)
    closed = kill.kill(place, what.agents, by, "nuked", say)
    group = closed.retired[0].undo if closed.retired else ""
    ended = sum(end_session(place, name) for name in what.sessions)
    archive = undo = ""
    if what.full:
        end_listeners(place, say)
        if not supervisor_process.stop(place):
            say("The supervisor does not end")
        if mail.is_any(place):
            archive, undo = take_mail(place, by, group)
    return Nuked(closed, ended, archive, undo)


def end_clients(place: paths.Place, agents: list[str]) -> None:
    """All at once; one by one they are closed afterwards. One that has no transcript keeps its terminal until then:
    what stands there is all that is left of it."""
    panes: dict[str, dict[str, server.Pane] | None] = {}
    first: list[psutil.Process] = []
    known: list[psutil.Process] = []
    for agent in agents:
        where = sessions.of(place, agent)
        if where.socket not in panes:
            panes[where.socket] = server.panes(where.socket)
        pane = (panes[where.socket] or {}).get(where.name)
        if pane is not None and not pane.dead and sessions.client_of(place, agent).has_begun(place, agent):
            family = user_processes.family(pane.pid)
            first += user_processes.clients(pane.pid, family)
            known += family
    with contextlib.ExitStack() as gates:
        for socket in panes:
            gates.enter_context(connect_lock.changing(socket))
        user_processes.end(first, known, user_processes.LAUNCHER_PATIENCE * (1 + len(first) / 4))


def end_session(place: paths.Place, name: str) -> bool:
    """With what runs in it, as an agent's own is ended."""
    pane = server.pane_of(socket_of(place), name)
    if pane is None:
        return False
    known = user_processes.family(pane.pid)
    with connect_lock.changing(socket_of(place)):
        user_processes.end(user_processes.clients(pane.pid, known), known)
    server.end(socket_of(place), name)
    return True


def take_mail(place: paths.Place, by: str, group: str) -> tuple[str, str]:
    """(the archive's folder, the name for undo)."""
    with operations.begin(place, "kill", log.MAIL, by=by, group=group, mail=True, **{"as": "nuke"}) as op:
        archive = mail.take(op)
        op.done()
    return archive, str(op.facts["undo"])


def end_listeners(place: paths.Place, say: Say) -> None:
    """Who holds a listener's lock and is one: the lock's file names it, the program's own words prove it."""
    for reader in listener_reader.listeners(place):
        pid = listener_reader.holder(place, reader)
        if not (pid.isdigit() and end_listener(int(pid))) or not is_free(place, reader):
            say(f"The listener {reader} does not end")


def end_listener(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        words = process.cmdline()
    except psutil.Error:
        return True
    return "listen" in words and user_processes.end([process], [process])


def is_free(place: paths.Place, reader: str) -> bool:
    until = time.monotonic() + STOPS_WITHIN
    while reader in listener_reader.listeners(place):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
