"""The fleet as people read it: `ib list`, `ib tree`, `ib status`."""

from collections.abc import Sequence

from ibstatus.model.records import Agent, Snapshot, Wake
from ibstatus.rules import ages, fleet, listing

LONGEST_ID = 40
LONGEST_PROMPT = 40
LONGEST_ASKED = 60
RUNGS = {
    "waiter": "the Stop hook that waits between turns",
    "watch": "the FileChanged hook",
    "listener": "ib listen in the background",
    "prompt": "the next prompt or tool call",
}
NONE_YET = "No agents found."


HEAD = ["ID", "STATE", "AGE", "MODEL", "MANAGER", "TASK"]


def rows(agents: Sequence[Agent], head: bool = False) -> str:
    """id, state, age, model, manager, prompt: two blanks between. `head` is for people, scripts get none."""
    table = [HEAD] if head else []
    table += [
        [cut(agent.id, LONGEST_ID), state(agent), agent.age, agent.model or "-", agent.manager or "-", prompt(agent)]
        for agent in agents
    ]
    return aligned(table)


def tree(agents: Sequence[Agent]) -> str:
    table = [
        [branch + cut(agent.id, LONGEST_ID), state(agent), agent.age, agent.model or "-", prompt(agent)]
        for branch, agent in fleet.lined_up(agents)
    ]
    return aligned(table)


def state(agent: Agent) -> str:
    return f"{agent.state} ({listing.shown(agent.reason)})" if agent.reason else agent.state


def prompt(agent: Agent) -> str:
    marks = f"[{', '.join(map(listing.shown, agent.marks))}] " if agent.marks else ""
    asks = f"  asks: {cut(listing.shown(agent.asks), LONGEST_ASKED)}" if agent.asks else ""
    return f"({agent.problem})" if agent.problem else marks + cut(listing.shown(agent.prompt), LONGEST_PROMPT) + asks


def cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def aligned(table: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))] if table else []
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
    )


def counted(agents: Sequence[Agent], most: int) -> str:
    alive = sum(not fleet.is_over(agent) for agent in agents)
    living = f", {alive} alive" if alive != len(agents) else ""
    return f"{len(agents)} agent{'' if len(agents) == 1 else 's'}{living} ({most} max)"


def status(snapshot: Snapshot, now: float) -> str:
    """The whole fleet on one screen: who, what waits for the user's Claude, who would hear it."""
    parts = [tree(snapshot.agents) if snapshot.agents else NONE_YET]
    for what, items in (("question", snapshot.questions), ("message", snapshot.messages)):
        if items:
            lines = [item_line(item, now) for item in items]
            parts.append(f"{len(items)} open {what}{'' if len(items) == 1 else 's'}:\n" + "\n".join(lines))
    parts.append(wake(snapshot.wake))
    return "\n\n".join(parts)


def wake(known: Wake) -> str:
    """Who hears news at once."""
    by = ", ".join(RUNGS[rung] for rung in known.armed if rung in RUNGS)
    if by:
        return f"Listening: session {listing.shown(known.primary)}, woken by {by}"
    others = ", ".join(map(listing.shown, known.listening))
    return "Listening: " + (others or "nobody; news waits until somebody does")


def item_line(item: dict[str, object], now: float) -> str:
    text = str(item.get("question", item.get("content", ""))).strip().partition("\n")[0]
    who = item.get("agent", item.get("from", "?"))
    kind = f"{item['type']}, " if "type" in item else ""
    age = ages.age_of(str(item.get("timestamp", "")), now)
    said = cut(listing.shown(text), 80)
    return f"  {listing.shown(item.get('id', '?'))}  {listing.shown(who)} ({kind}{age} ago): {said}"
