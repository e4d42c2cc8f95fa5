"""A client has ended: its exit code is written down, and work that lies uncommitted is reported, never asked about."""

import time
from collections.abc import Sequence

from ibstatus.drivers import git
from ibstatus.model.records import Agent
from ibstatus.rules import fleet
from ibstatus.store import agent_log, meta, operations, places, spool


def note(place: places.Place, agent: str, code: int | None) -> None:
    """`code` is None when nobody saw it end: it was killed, or its tmux server was."""
    now = time.time()
    known = meta.read(place, agent)
    if not known:
        return
    meta.change(place, agent, ended={"code": code, "at": now})
    how = "was killed" if code is None else f"ended with exit code {code}" if code else "ended"
    left = uncommitted(place, agent) if known.get("worktree") is not False else []
    agent_log.write(place, agent, f"Session {how}" + (f"; {len(left)} uncommitted changes" if left else ""), now)
    if left:
        event = {"kind": "agent.state", "who": agent, "state": "waiting", "reason": fleet.UNCOMMITTED}
    else:
        event = {"kind": "agent.stopped", "who": agent, "reason": "" if code == 0 else how}
    spool.note(place, agent, now, event)


def uncommitted(place: places.Place, agent: str) -> list[str]:
    """What `git status --short` says of its worktree."""
    return git.run(place.agent_dir(agent) + "/repo", "status", "--porcelain").out.splitlines()


def catch_up(place: places.Place, seen: Sequence[Agent]) -> None:
    """Sessions that are gone without a word: what their start.sh would have said."""
    for agent in seen:
        if agent.state != "stopped":
            continue
        known = meta.read(place, agent.id)
        if "tmux_session" in known and "ended" in known and known["ended"] is None and not is_changing(place, agent.id):
            note(place, agent.id, None)


def is_changing(place: places.Place, agent: str) -> bool:
    return operations.is_at_work(place, agent) or bool(operations.read(place, agent))
