"""kill: end agents for good. What they leave is kept for `ib undo`.

nuke: all agents, or one with everybody below it. A full one also takes mail, listeners and the supervisor.
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import psutil

from ibstatus.agents import reassign, recover, retire
from ibstatus.agents.undo import log, mail
from ibstatus.board import queued_branch
from ibstatus.claude import sessions
from ibstatus.errors import IbError
from ibstatus.mail import inbox, listener_reader
from ibstatus.project import agent_meta, authority, config, home, identity, operations, paths, supervisor_process
from ibstatus.project.rules import authority as family
from ibstatus.project.rules import counts
from ibstatus.system import disk
from ibstatus.system.git import worktrees
from ibstatus.system.process import user_processes
from ibstatus.system.tmux import connect_lock, server

Say = Callable[[str], None]


class Closed(NamedTuple):
    """`failed`: agent and why, of those that are still there."""

    retired: list[retire.Retired]
    failed: list[tuple[str, IbError]]


def plan_kill(place: paths.Place, caller: identity.Caller, given: Iterable[str], tree: bool, say: Say) -> list[str]:
    """Whom it would be, in this order; with `tree` everybody below them too, deepest first."""
    home.look(place)
    recover.everything(place, say)
    named = [authority.resolved(place, caller, one, "kill") for one in given]
    managers = authority.managers(place)
    found = [name for one in named for name in ([*family.below(one, managers), one] if tree else [one])]
    return list(dict.fromkeys(found))


def losses(place: paths.Place, names: Sequence[str]) -> list[counts.Loss]:
    managers = authority.managers(place)
    branches = [retire.branch_of(name) for name in names]
    queued = queued_branch.queued(place)
    return [
        loss(place, name, managers.get(name, ""), names, branches)._replace(
            entry=queued[name].id if name in queued else 0
        )
        for name in names
    ]


def loss(place: paths.Place, agent: str, manager: str, going: Sequence[str], branches: Sequence[str]) -> counts.Loss:
    repo = place.agent_dir(agent) + "/repo"
    has_tree = disk.exists(repo + "/.git")
    commits = [
        worktrees.tip(place.git_folder, retire.branch_of(agent)),
        worktrees.head(repo) if has_tree else "",
    ]
    return counts.Loss(
        agent=agent,
        files=worktrees.uncommitted(repo) if has_tree else None if disk.exists(repo) else [],
        commits=worktrees.only_here(place.git_folder, commits, branches),
        unread=len(inbox.unread(place, agent).ids),
        children=[name for name in reassign.children(place, agent) if name not in going],
        manager=manager,
        running=sessions.of(place, agent).pane() is not None,
        questions=len(reassign.open_questions(place, agent)),
        lost=agent_meta.lost_worktree(place, agent) != "",
    )


def kill(place: paths.Place, names: Sequence[str], by: str, verb: str, say: Say, group: str = "") -> Closed:
    """One after the other; one that cannot be closed does not keep the others. Children first: nobody is given, and
    told of, another manager on its own way out."""
    retired: list[retire.Retired] = []
    failed: list[tuple[str, IbError]] = []
    managers = authority.managers(place)
    for name in sorted(names, key=lambda name: -len(list(family.above(name, managers)))):
        try:
            done = one(place, name, by, verb, group, named(name, say) if len(names) > 1 else say)
            group = group or done.undo
            retired.append(done)
        except IbError as error:
            failed.append((name, error))
    return Closed(retired, failed)


def named(name: str, say: Say) -> Say:
    """Of several nobody could tell whom a line is about."""
    return lambda text: say(text if text.startswith(f"{name}: ") else f"{name}: {text}")


def one(place: paths.Place, name: str, by: str, verb: str, group: str, say: Say) -> retire.Retired:
    kind = {"killed": "kill", "nuked": "nuke"}.get(verb, "gc")
    facts = {"by": by, "verb": verb, "group": group, "as": kind}
    with operations.begin_if(place, "kill", name, lambda: check(place, name), **facts) as op:
        done = retire.retire(op, say)
        op.done()
    return done


def check(place: paths.Place, name: str) -> None:
    """Before the first step: where tmux hangs nobody knows what still runs."""
    if not is_anything(place, name):
        raise IbError(f"{name} is gone already", hint="ib undo --list")
    try:
        sessions.of(place, name).pane()
    except IbError as error:
        raise IbError(f"{error.message}; nothing was done to {name}", hint=error.hint, cause=error.cause) from error


def is_anything(place: paths.Place, name: str) -> bool:
    """Asked once more when nobody else can be at work on it: another command may have been quicker."""
    branch, folder = retire.branch_of(name), place.agent_dir(name)
    known = worktrees.tip(place.git_folder, branch) or worktrees.registered(place.common, folder + "/repo")
    return disk.exists(folder) or bool(known)


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
    closed: Closed
    sessions: int
    archive: str
    undo: str


def plan_nuke(place: paths.Place, caller: identity.Caller, given: str, say: Say) -> Plan:
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
    ident = agent_meta.repo_id(place)
    if not ident:
        return []
    known = {agent_meta.session_of(place, record) for record in agent_meta.records(place)}
    there = server.sessions(socket_of(place)) or frozenset()
    return sorted(name for name in there if name.startswith(f"ittybitty-{ident}-") and name not in known)


def nuke(place: paths.Place, what: Plan, by: str, say: Say) -> Nuked:
    end_clients(place, what.agents)
    closed = kill(place, what.agents, by, "nuked", say)
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
        user_processes.end_processes(first, known, user_processes.LAUNCHER_PATIENCE * (1 + len(first) / 4))


def end_session(place: paths.Place, name: str) -> bool:
    """With what runs in it, as an agent's own is ended."""
    pane = server.pane_of(socket_of(place), name)
    if pane is None:
        return False
    known = user_processes.family(pane.pid)
    with connect_lock.changing(socket_of(place)):
        user_processes.end_processes(user_processes.clients(pane.pid, known), known)
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
    return "listen" in words and user_processes.end_processes([process], [process])


def is_free(place: paths.Place, reader: str) -> bool:
    until = time.monotonic() + STOPS_WITHIN
    while reader in listener_reader.listeners(place):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
