"""new-agent: an agent stands as a whole, or nothing of it does."""

import shutil
import time
from collections.abc import Callable
from typing import Any

from ibstatus.drivers import git, tmux
from ibstatus.ops import attend, session, slots, spawn_plan, start
from ibstatus.ops import recover as recovery
from ibstatus.rules import identity
from ibstatus.store import agent_log, disk, home, meta, operations, places, spool

KIND = "spawn"


def spawn(
    place: places.Place,
    caller: identity.Caller,
    wanted: spawn_plan.Wanted,
    cwd: str,
    announce: Callable[[str], None],
    say: Callable[[str], None],
) -> str:
    """The new agent's id. `announce` prints it; if that fails, or anything before it, nothing is left of the agent."""
    home.enter(place)
    recovery.everything(place, say)
    plan = spawn_plan.made(place, caller, wanted, cwd)
    with slots.reserve(place, plan.name, plan.meta) as operation:
        try:
            build(place, operation)
            announce(operation.agent)
        except BaseException:
            roll_back(operation)
            raise
        attend.begin(place, operation.agent)
        operation.done()
        return operation.agent


def build(place: places.Place, operation: operations.Operation) -> None:
    """Everything up to the running session."""
    agent, now = operation.agent, time.time()
    known = meta.read(place, agent)
    if known["worktree"]:
        start.make_worktree(place, agent, known["base_commit"])
    start.write_files(place, agent)
    record(place, agent, known, now)
    start.run(place, agent)
    operation.note(standing=True)


def record(place: places.Place, agent: str, known: dict[str, Any], now: float) -> None:
    """The history, and the logs of the agent and of its manager."""
    manager, prompt = known["manager"], known["prompt"]
    who = f"manager: {manager}, prompt: {prompt}" if manager else f"prompt: {prompt}"
    agent_log.write(place, agent, f"Agent created ({who})", now)
    if manager:
        kind = "worker" if known["worker"] else "manager"
        agent_log.write(place, manager, f"Spawned {kind} subagent: {agent} (prompt: {prompt})", now)
    spool.note(place, "cli", now, {"kind": "agent.created", "who": agent, "manager": manager or ""})


def roll_back(operation: operations.Operation) -> None:
    """Session, worktree, branch, folder: whatever there is of it. The branch goes only while nothing was committed."""
    place, agent = operation.place, operation.agent
    at = session.of(place, agent)
    tmux.end(at.socket, at.name)
    worktree = place.agent_dir(agent) + "/repo"
    if disk.exists(worktree):
        git.run(place.git_folder, "worktree", "remove", "--force", "--force", worktree)
    shutil.rmtree(place.agent_dir(agent), ignore_errors=True)
    shutil.rmtree(f"{place.safe}/agents/{agent}", ignore_errors=True)
    git.run(place.git_folder, "worktree", "prune")
    base = operation.facts.get("base_commit")
    if base:
        git.run(place.git_folder, "update-ref", "-d", f"refs/heads/agent/{agent}", str(base))
    manager = operation.facts.get("manager")
    if manager:
        agent_log.write(place, str(manager), f"Spawning {agent} failed, nothing is left of it", time.time())
    operation.done()


def recover(operation: operations.Operation, say: Callable[[str], None]) -> None:
    """Killed once the session stood: the agent lives. Killed before: nothing is left of it."""
    place, agent = operation.place, operation.agent
    if operation.facts.get("standing") and session.of(place, agent).pane() is not None:
        attend.begin(place, agent)
        operation.done()
        say(f"The spawn of {agent} was cut off after its session stood: it lives.")
        return
    roll_back(operation)
    say(f"The spawn of {agent} was cut off; nothing is left of it.")
