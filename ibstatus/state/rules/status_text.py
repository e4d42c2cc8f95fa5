"""The fleet as people read it: `ib list`, `ib tree`, `ib status`."""

from collections.abc import Sequence

from ibstatus.mail.rules import listing
from ibstatus.model.fleet import Agent, Snapshot, Wake
from ibstatus.state.rules import evidence, fleet, tmux_outage
from ibstatus.system.text import times

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


def rows(agents: Sequence[Agent], head: bool = False, width: int = 0) -> str:
    """id, state, age, model, manager, prompt: two blanks between. `head` is for people, scripts get none; so is
    `width`, that of their terminal."""
    table = [HEAD] if head else []
    table += [
        [cut(agent.id, LONGEST_ID), state(agent), agent.age, agent.model or "-", agent.manager or "-", prompt(agent)]
        for agent in agents
    ]
    return aligned(table, width)


def tree(agents: Sequence[Agent], width: int = 0) -> str:
    table = [
        [branch + cut(agent.id, LONGEST_ID), state(agent), agent.age, agent.model or "-", prompt(agent)]
        for branch, agent in fleet.lined_up(agents)
    ]
    return aligned(table, width)


def state(agent: Agent) -> str:
    """With its reason, or what was seen where that says more."""
    said = [evidence.INTERRUPTED if agent.note == evidence.INTERRUPTED else short(agent.reason).partition(": ")[0]]
    said += [agent.note] if agent.note == tmux_outage.UNSEEN else []
    words = "; ".join(listing.shown(word) for word in said if word)
    return f"{agent.state} ({words})" if words else agent.state


def short(reason: str) -> str:
    return reason.replace("ended with exit code ", "exit ")


def prompt(agent: Agent) -> str:
    marks = f"[{', '.join(map(listing.shown, agent.marks))}] " if agent.marks else ""
    kind, _, words = agent.reason.partition(": ")  # the words of an error would be most of the line
    asks = f"  {listing.shown(kind)}: {cut(listing.shown(words), LONGEST_ASKED)}" if words else ""
    asks += f"  asks: {cut(listing.shown(agent.asks), LONGEST_ASKED)}" if agent.asks else ""
    return f"({agent.problem})" if agent.problem else marks + cut(listing.shown(agent.prompt), LONGEST_PROMPT) + asks


def cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def aligned(table: Sequence[Sequence[str]], width: int = 0) -> str:
    """`width`: so many columns there are; 0: as many as it takes."""
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))] if table else []
    lines = ["  ".join(cell.ljust(most) for cell, most in zip(row, widths, strict=True)).rstrip() for row in table]
    return "\n".join(cut(line, width) if width > 0 else line for line in lines)


def counted(agents: Sequence[Agent], most: int) -> str:
    alive = sum(not fleet.is_over(agent) for agent in agents)
    living = f", {alive} alive" if alive != len(agents) else ""
    return f"{len(agents)} agent{'' if len(agents) == 1 else 's'}{living} ({most} max)"


def status(snapshot: Snapshot, now: float, width: int = 0) -> str:
    """The whole fleet on one screen: who, what waits for the user's Claude, who would hear it."""
    parts = [tree(snapshot.agents, width) if snapshot.agents else NONE_YET]
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
    age = times.age_of(str(item.get("timestamp", "")), now)
    said = cut(listing.shown(text), 80)
    return f"  {listing.shown(item.get('id', '?'))}  {listing.shown(who)} ({kind}{age} ago): {said}"
