"""new-agent: an agent stands as a whole, or nothing of it does."""

import shutil
import time
from collections.abc import Callable
from typing import Any

from ibstatus.agents import attend, session, spawn_limit, spawn_plan
from ibstatus.agents import recover as recovery
from ibstatus.claude import sessions
from ibstatus.errors import IbError
from ibstatus.project import agent_meta, home, identity, logs, operations, paths
from ibstatus.state import session_end
from ibstatus.system import disk
from ibstatus.system.git import run, worktrees

KIND = "spawn"


def spawn(
    place: paths.Place,
    caller: identity.Caller,
    wanted: spawn_plan.Wanted,
    cwd: str,
    announce: Callable[[str], None],
    say: Callable[[str], None],
) -> str:
    """The new agent's id. `announce` prints it; if that fails, or anything before it, nothing is left of the agent."""
    home.look(place)
    plan = spawn_plan.made(place, caller, wanted, cwd)
    home.enter(place)
    recovery.everything(place, say)
    with spawn_limit.reserve(place, plan.name, plan.meta) as operation:
        try:
            build(place, operation)
            announce(operation.agent)
        except BaseException:
            take_back(operation)
            raise
        attend.begin(place, operation.agent)
        operation.done()
        return operation.agent


def build(place: paths.Place, operation: operations.Operation) -> None:
    """Everything up to the running session. What is about to be made is noted first: nothing else is taken back."""
    agent, now = operation.agent, time.time()
    known = agent_meta.read(place, agent)
    if agent_meta.TASK in known:
        from ibstatus.board import agent_tasks as boarders

        boarders.take(place, agent, known[agent_meta.TASK]["id"])
    if known["worktree"]:
        operation.note(made=["folder", "worktree"])
        session.make_worktree(place, agent, known["base_commit"])
    session.write_files(place, agent)
    record(place, agent, known, now)
    operation.note(made=[*operation.facts["made"], "session"])
    session.run(place, agent)
    operation.note(standing=True)


def record(place: paths.Place, agent: str, known: dict[str, Any], now: float) -> None:
    """The history, and the logs of the agent and of its manager."""
    manager, prompt = known["manager"], known["prompt"]
    who = f"manager: {manager}, prompt: {prompt}" if manager else f"prompt: {prompt}"
    logs.write(place, agent, f"Agent created ({who})", now)
    if manager:
        kind = "worker" if known["worker"] else "manager"
        logs.write(place, manager, f"Spawned {kind} subagent: {agent} (prompt: {prompt})", now)
    logs.note(place, "cli", now, {"kind": "agent.created", "who": agent, "manager": manager or ""})


def take_back(operation: operations.Operation) -> None:
    """A tmux that hangs may still do what it was asked for: who tries again at once would have it done twice."""
    try:
        roll_back(operation)
    except IbError as error:
        name = operation.agent
        what, hint = f"{name} may still come to life: it could not be taken back", f"ib list; ib kill {name}"
        raise IbError(what, cause=error.message, hint=f"before you start it once more: {hint}") from error


def roll_back(operation: operations.Operation) -> None:
    """Session, worktree, branch, folder: what this spawn has made. The branch goes only while nothing was committed."""
    place, agent = operation.place, operation.agent
    made, base = operation.facts.get("made", []), operation.facts.get("base_commit")
    give_task_back(place, agent)
    if "session" in made:
        session.stop(place, agent, lambda text: None)
    if "worktree" in made:
        worktree = place.agent_dir(agent) + "/repo"
        run.run(place.git_folder, "worktree", "remove", "--force", "--force", worktree)
        shutil.rmtree(worktree, ignore_errors=True)
        admin = worktrees.registered(place.common, worktree)  # what git has not taken back; nobody else's is touched
        if admin:
            shutil.rmtree(admin, ignore_errors=True)
        run.run(place.git_folder, "update-ref", "-d", f"refs/heads/agent/{agent}", str(base))
    if "folder" in made:
        shutil.rmtree(place.agent_dir(agent), ignore_errors=True)
        shutil.rmtree(f"{place.safe}/agents/{agent}", ignore_errors=True)
    manager = operation.facts.get("manager")
    if manager:
        logs.write(place, str(manager), f"Spawning {agent} failed, nothing is left of it", time.time())
    operation.done()


def give_task_back(place: paths.Place, agent: str) -> None:
    """Where the board cannot be reached, the lease runs out."""
    if agent_meta.TASK not in agent_meta.read(place, agent):
        return
    from ibstatus.board import agent_tasks as boarders

    try:
        list(boarders.left(place, agent, reason="its agent could not be started"))
    except IbError:
        return


def recover(operation: operations.Operation, say: Callable[[str], None]) -> None:
    """Killed once the session stood, or after it had begun to work: the agent stays. Killed before: nothing is left."""
    place, agent = operation.place, operation.agent
    lives = sessions.of(place, agent).pane() is not None
    if operation.facts.get("standing") or has_worked(place, agent, operation.facts):
        if lives:
            attend.begin(place, agent)
        operation.done()
        say(f"The spawn of {agent} was cut off once its session stood: it {'lives' if lives else 'is stopped'}.")
        return
    roll_back(operation)
    say(f"The spawn of {agent} was cut off; nothing is left of it.")


def has_worked(place: paths.Place, agent: str, facts: dict[str, Any]) -> bool:
    """Has its session begun, and done anything to its worktree?"""
    worktree = place.agent_dir(agent) + "/repo"
    if "session" not in facts.get("made", []) or not disk.exists(worktree):
        return False
    head = run.run(worktree, "rev-parse", "HEAD").out.strip()
    return head != facts.get("base_commit") or bool(session_end.uncommitted(place, agent))
