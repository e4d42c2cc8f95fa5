"""Who may act on which agent: the user and the user's Claude on all, an agent on itself and on what is below it.

May this agent get that manager? The words are the older tool's, which its fixtures expect.
"""

from collections.abc import Iterator, Mapping, Sequence

from ibstatus.project import identity


def refusal(caller: identity.Caller, target: str, managers: Mapping[str, str], verb: str) -> str:
    """Why not, as a sentence without its full stop; '' when it may. `managers`: agent → its manager, '' for none."""
    if caller.kind != identity.AGENT or target == caller.name or caller.name in above(target, managers):
        return ""
    return f"{caller.name} may not {verb} {target}: an agent acts on itself and on the agents below it"


def above(agent: str, managers: Mapping[str, str]) -> Iterator[str]:
    """Its manager, that one's manager, and so on; a circle is gone round once."""
    seen = {agent}
    while (agent := managers.get(agent, "")) and agent not in seen:
        seen.add(agent)
        yield agent


def below(agent: str, managers: Mapping[str, str]) -> list[str]:
    """Everybody under it, deepest first, so that they can be ended in this order."""
    found: list[str] = []

    def walk(one: str) -> None:
        for name in sorted(managers):
            if managers[name] == one and name != agent and name not in found:
                walk(name)
                if name not in found:
                    found.append(name)

    walk(agent)
    return found


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
    if agent in above(parent, managers):
        return "error:circular-dependency"
    return "noop:same-parent" if managers[agent] == parent else "ok"
