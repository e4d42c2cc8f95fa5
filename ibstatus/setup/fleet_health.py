"""What `ib doctor` says of the agents: who was cut off, and which rules about screens are left out."""

from collections.abc import Iterator

import ibstatus
from ibstatus.agents import resume_all
from ibstatus.agents.rules import resume_plan
from ibstatus.claude.screens import user_rules as rules
from ibstatus.model.fleet import Finding
from ibstatus.project import agent_worktree, agents, paths
from ibstatus.project.rules import findings
from ibstatus.state import snapshot


def cut_off(place: paths.Place) -> Iterator[Finding]:
    """By what was published last: a look of our own would write."""
    published = snapshot.read(place, ibstatus.__version__)
    names = resume_all.cut_off(place, published[0].agents) if published is not None else []
    if names:
        yield Finding("note", "agents", resume_plan.notice(len(names)), "ib resume --all")


def lost_worktrees(place: paths.Place) -> Iterator[Finding]:
    for agent in agents.all_ids(place):
        again = agent_worktree.lost_worktree(place, agent)
        if again:
            yield Finding("warn", "agents", f"the worktree of {agent} is gone", again)


def screen_rules(place: paths.Place) -> Iterator[Finding]:
    broken = rules.problems(place)
    for text in broken:
        yield Finding("warn", "screen-rules", text, "ib parse-state -v FILE tells more")
    if not broken:
        yield findings.ok("screen-rules", "what screens mean is known")
