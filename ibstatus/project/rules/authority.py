"""Who may act on which agent: the user and the user's Claude on all, an agent on itself and on what is below it."""

from collections.abc import Iterator, Mapping

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
