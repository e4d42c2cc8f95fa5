"""pause and resume: an agent's session ends and goes on; its worktree, branch and conversation stay."""

import os
import time
from collections.abc import Callable
from typing import Any

from ibstatus.agents import attend, processes, session, spawn_limit, spawn_plan
from ibstatus.agents import recover as recovery
from ibstatus.claude import client, hook_state, sessions
from ibstatus.errors import IbError
from ibstatus.mail import inbox
from ibstatus.project import agent_meta, agents, authority, home, identity, ids, logs, operations, paths
from ibstatus.state import session_end
from ibstatus.system import locks
from ibstatus.system.tmux import server


def pause(place: paths.Place, caller: identity.Caller, given: str, say: Callable[[str], None]) -> str:
    """Its id. Work in its worktree stays as it is."""
    home.look(place)
    recovery.everything(place, say)
    agent = authority.resolved(place, caller, given, "pause")
    with operations.begin(place, "pause", agent) as operation:
        try:
            if not sessions.of(place, agent).is_running():
                raise IbError(f"{agent} is not running", hint=f"ib resume {agent}")
            stop_session(place, agent, say)
            logs.write(place, agent, "Agent paused", time.time())
        finally:
            operation.done()
    left = len(session_end.uncommitted(place, agent))
    if left:
        say("1 uncommitted change stays in its worktree." if left == 1 else f"{left} uncommitted changes stay there.")
    return agent


def stop_session(place: paths.Place, agent: str, say: Callable[[str], None]) -> None:

    session.stop(place, agent, say)
    now = time.time()
    agent_meta.change(place, agent, ended={"code": None, "at": now, "why": session_end.PAUSED})
    logs.note(place, agent, now, {"kind": "agent.stopped", "who": agent, "reason": "paused"})


def resume(place: paths.Place, caller: identity.Caller, given: str, say: Callable[[str], None]) -> str:
    """The same conversation goes on; one that never began is begun."""
    home.look(place)
    recovery.everything(place, say)
    agent = authority.resolved(place, caller, given, "resume")
    bring_up(place, agent, quiet=False)
    return agent


def bring_up(place: paths.Place, agent: str, *, quiet: bool) -> None:
    """`quiet`: it is not told to go on, and waits as it did before."""
    known = agent_meta.read(place, agent)
    check(place, agent, known)
    processes.end_clients(place, agent)
    with locks.Lock(place.lock(spawn_limit.LOCK)):
        spawn_limit.check_limit(place)
        operation = operations.begin(place, "resume", agent, quiet=quiet)
    with operation:
        try:
            if not agents.exists(place, agent):
                raise IbError(f"{agent} was closed meanwhile", hint="ib undo")
            refuse_running(place, agent)
            begun = client.of(known).goes_on(place, agent)
            operation.note(begun=begun)
            session.write_script(place, agent, refreshed(place, agent, known, begun))
            hook_state.note(place, agent, "", "SessionEnd", {}, time.time())  # after kill -9 it still says what it did
            resumed = {"kind": "agent.state", "who": agent, "state": "creating", "reason": "resumed"}
            logs.note(place, agent, time.time(), resumed)  # before its own hooks can say more
            session.run(place, agent, *(["resume"] if begun else []))
            if begun and not quiet:
                send_on(operation)
            attend.begin(place, agent, resumed=begun)
        finally:
            operation.done()
    logs.write(place, agent, "Agent resumed", time.time())


def send_on(operation: operations.Operation) -> None:
    """The letter lies there before the command ends, once: if nobody comes to attend, the supervisor rouses it."""
    place, agent, now = operation.place, operation.agent, time.time()
    if "letter" not in operation.facts:
        operation.note(letter=ids.take(place, "in", attend.WRITER, now))
    letter = str(operation.facts["letter"])
    if not inbox.held(place, agent, letter):
        inbox.put(place, attend.WRITER, agent, "system", True, attend.RESUMED, now, letter)


def refuse_running(place: paths.Place, agent: str) -> None:
    """A pane that outlives its program, as somebody's tmux may be told to keep it, is taken away."""
    at = sessions.of(place, agent)
    if at.is_running():
        raise IbError(f"{agent} is running", hint=f"ib look {agent}")
    if at.pane() is not None:
        server.end(at.socket, at.name)


def check(place: paths.Place, agent: str, known: dict[str, object]) -> None:
    if "session_id" not in known or "client" not in known:
        raise IbError(
            f"{agent} was not started by ib new-agent, so ib does not know its session", hint="ib info " + agent
        )
    refuse_running(place, agent)
    lost = agent_meta.lost_worktree(place, agent, ours=True)
    if lost:
        raise IbError(f"The worktree of {agent} is gone", hint=lost)
    if known.get("worktree") is not False:
        agent_meta.refuse_foreign(place, agent, agent_meta.worktree_of(place, agent, known))
    client_of(known)


def refreshed(place: paths.Place, agent: str, known: dict[str, Any], begun: bool) -> dict[str, Any]:
    """What it is started with this time."""
    own = {} if begun else {"session_id": client.of(known).session(known)}
    prompted = session_end.was_prompted(place, agent, known)
    return agent_meta.change(place, agent, client=client_of(known), prompted=prompted, **own)


def client_of(known: dict[str, object]) -> str:
    """The program that it was started with; one that an upgrade has moved is looked for again."""
    program = str(known["client"])
    return program if os.access(program, os.X_OK) else spawn_plan.client()


def recover(operation: operations.Operation, say: Callable[[str], None]) -> None:
    """A pause is carried out; a resume has begun its session or it has not."""
    place, agent = operation.place, operation.agent
    if operation.kind == "pause":
        stop_session(place, agent, say)
    elif sessions.of(place, agent).pane() is not None:
        begun = operation.facts.get("begun") is not False and client.of(agent_meta.read(place, agent)).goes_on(
            place, agent
        )
        if begun and operation.facts.get("quiet") is not True:
            send_on(operation)
        attend.begin(place, agent, resumed=begun)
    operation.done()
    say(f"The {operation.kind} of {agent} was cut off, and is finished now.")
