"""May this agent get that manager? The words are the older tool's, which its fixtures expect."""

from collections.abc import Mapping, Sequence

from ibstatus.project.rules import authority

TEXTS = {
    "error:agent-not-specified": "Name the agent",
    "error:cannot-reassign-to-self": "{agent} cannot be its own manager",
    "error:agent-not-found": "There is no agent '{agent}'",
    "error:new-parent-not-found": "There is no agent '{parent}'",
    "error:worker-cannot-be-parent": "{parent} is a worker, and workers have no agents",
    "error:circular-dependency": "{parent} is below {agent}: nobody would stand above them",
    "noop:same-parent": "{parent} is its manager already",
    "noop:already-root": "{agent} has no manager already",
}


def verdict(agent: str, parent: str, managers: Mapping[str, str], workers: Sequence[str]) -> str:
    """`ok`, `noop:<why>` or `error:<why>`. `parent`: '' for none."""
    if not agent:
        return "error:agent-not-specified"
    if agent == parent:
        return "error:cannot-reassign-to-self"
    if agent not in managers:
        return "error:agent-not-found"
    if not parent:
        return "ok" if managers[agent] else "noop:already-root"
    if parent not in managers:
        return "error:new-parent-not-found"
    if parent in workers:
        return "error:worker-cannot-be-parent"
    if agent in authority.above(parent, managers):
        return "error:circular-dependency"
    return "noop:same-parent" if managers[agent] == parent else "ok"
