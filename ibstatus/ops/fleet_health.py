"""What `ib doctor` says of the agents: who was cut off, and which rules about screens are left out."""

from collections.abc import Iterator

import ibstatus
from ibstatus.model.records import Finding
from ibstatus.ops import agent_worktree, resume_all
from ibstatus.rules import health, recovery
from ibstatus.store import agents, places, snapshot
from ibstatus.store import screen_rules as rules


def cut_off(place: places.Place) -> Iterator[Finding]:
    """By what was published last: a look of our own would write."""
    published = snapshot.read(place, ibstatus.__version__)
    names = resume_all.cut_off(place, published[0].agents) if published is not None else []
    if names:
        yield Finding("note", "agents", recovery.notice(len(names)), "ib resume --all")


def lost_worktrees(place: places.Place) -> Iterator[Finding]:
    for agent in agents.all_ids(place):
        again = agent_worktree.lost_worktree(place, agent)
        if again:
            yield Finding("warn", "agents", f"the worktree of {agent} is gone", again)


def screen_rules(place: places.Place) -> Iterator[Finding]:
    broken = rules.problems(place)
    for text in broken:
        yield Finding("warn", "screen-rules", text, "ib parse-state -v FILE tells more")
    if not broken:
        yield health.ok("screen-rules", "what screens mean is known")
