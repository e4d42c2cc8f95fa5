"""What the node says: which agents and messages of all there are, and how much of each.

`ibstatus/model/status_node.schema.json` describes it to programs that read the node. Change both together."""

from typing import Any, NamedTuple

from ibstatus.model import constants
from ibstatus.state.rules.fleet import STATES
from ibstatus.system import jsonl, timestamps
from ibstatus.system.text import times

Item = dict[str, Any]

LIVE = "ib status --json"
MOST_AGENTS = 50
PROMPT = 60
TEXT = 300
SHORTER = (150, 80, 40)
REASON = 80
NAME = 64
CUT_MESSAGE = "… [whole: ib messages]"
CUT_QUESTION = "… [whole: ib questions]"

# What the reader should look at, before those that just work.
FIRST = {"waiting": 0, "rate_limited": 0, "complete": 1, "stopped": 1, "unknown": 1}


class Facts(NamedTuple):
    """As the store has them. Agents: id, state, reason, created (epoch or None), prompt, manager; questions: open."""

    agents: list[Item]
    messages: list[Item]
    questions: list[Item]


class Limits(NamedTuple):
    """What the config says."""

    messages: int = 50
    children: bool = True


class Shape(NamedTuple):
    """How much of the facts is told; None: all."""

    others: int
    text: int = TEXT
    agents: int = MOST_AGENTS
    questions: int | None = None


class Ordered(NamedTuple):
    """The facts as they are told: root agents by urgency, the states of each one's children, messages oldest first."""

    agents: list[Item]
    children: dict[str, list[str]]
    questions: list[Item]
    others: list[Item]


def content(facts: Facts, limits: Limits, now: float) -> Item:
    """The JSON object of seed 001, within the limits, whatever its size."""
    return told(ordered(facts), limits, now, Shape(limits.messages))


def ordered(facts: Facts) -> Ordered:
    children: dict[str, list[str]] = {}
    for agent in facts.agents:
        if word(agent, "manager") != word(agent, "id"):
            children.setdefault(word(agent, "manager"), []).append(word(agent, "state"))
    return Ordered(sorted(roots(facts.agents), key=urgency), children, *sorted_messages(facts))


def told(known: Ordered, limits: Limits, now: float, shape: Shape) -> Item:
    """In an order that stays from write to write. What is left out is counted."""
    agents = sorted(known.agents[: shape.agents], key=age_order)
    questions = known.questions if shape.questions is None else known.questions[: shape.questions]
    room = max(0, min(shape.others, limits.messages - len(questions), len(known.others)))
    others = known.others[len(known.others) - room :]
    result: Item = {
        "last_updated": timestamps.utc(now),
        "root_agents": [agent_row(agent, known.children, limits, now) for agent in agents],
        "messages": [message_row(item, shape.text) for item in (*questions, *others)],
    }
    more = len(known.questions) + len(known.others) - len(questions) - len(others)
    if more:
        result["more"] = more
    if len(known.agents) > len(agents):
        result["more_agents"] = len(known.agents) - len(agents)
    result["live"] = LIVE
    return result


def key(value: Item) -> str:
    """Two contents with the same key need no write: only the time and the ages differ."""
    rest = {name: part for name, part in value.items() if name != "last_updated"}
    agents = value.get("root_agents")
    if isinstance(agents, list):
        rest["root_agents"] = [without_age(agent) for agent in agents]
    return jsonl.encode(rest)


def without_age(agent: Any) -> Any:
    return {name: part for name, part in agent.items() if name != "age"} if isinstance(agent, dict) else agent


def roots(agents: list[Item]) -> list[Item]:
    """Those without a manager, or whose manager is gone. Agents that manage each other in a circle all count."""
    managers = {word(agent, "id"): word(agent, "manager") for agent in agents}
    return [agent for agent in agents if is_root(word(agent, "id"), managers)]


def is_root(agent: str, managers: dict[str, str]) -> bool:
    above = managers.get(agent, "")
    if above not in managers:
        return True
    seen = {above}
    while above != agent:
        above = managers.get(above, "")
        if above in seen or above not in managers:
            return False
        seen.add(above)
    return True


def urgency(agent: Item) -> tuple[int, bool, float, str]:
    return (FIRST.get(word(agent, "state"), 2), *age_order(agent))


def age_order(agent: Item) -> tuple[bool, float, str]:
    created = born(agent)
    return created is None, created or 0.0, word(agent, "id")


def born(agent: Item) -> float | None:
    created = agent.get("created")
    return float(created) if isinstance(created, int | float) and created == created else None


def agent_row(agent: Item, children: dict[str, list[str]], limits: Limits, now: float) -> Item:
    created = born(agent)
    row: Item = {
        "id": cut(word(agent, "id"), NAME),
        "state": one_of(STATES, word(agent, "state"), constants.UNKNOWN),
        "age": "?" if created is None else times.bucket(now - created),
        "prompt": cut(first_line(word(agent, "prompt")), PROMPT, ""),
    }
    if limits.children:
        states = children.get(word(agent, "id"), [])
        row["children"] = len(states)
        row["children_complete"] = states.count("complete")
    reason = first_line(word(agent, "reason"))
    if reason:
        row["reason"] = cut(reason, REASON)
    return row


def sorted_messages(facts: Facts) -> tuple[list[Item], list[Item]]:
    """(open questions, the others), each oldest first. A question of `ib ask` looks like a message of type question."""
    asked = [
        {**question, "from": question.get("agent"), "type": "question", "content": question.get("question")}
        for question in facts.questions
    ]
    items = sorted([*asked, *facts.messages], key=message_order)
    return [m for m in items if m.get("type") == "question"], [m for m in items if m.get("type") != "question"]


def message_order(item: Item) -> tuple[float, str]:
    return times.epoch(word(item, "timestamp")) or 0.0, word(item, "id")


def message_row(item: Item, longest: int) -> Item:
    mark = CUT_QUESTION if "question" in item else CUT_MESSAGE
    row: Item = {
        "id": cut(word(item, "id"), NAME + 20),
        "from": cut(word(item, "from") or constants.UNKNOWN, NAME),
        "timestamp": cut(word(item, "timestamp"), NAME),
        "type": one_of(constants.MESSAGE_TYPES, word(item, "type"), "status"),
        "content": cut(word(item, "content"), longest, mark),
    }
    if item.get("verified") is False:
        row["verified"] = False
    return row


def one_of(allowed: tuple[str, ...], value: str, fallback: str) -> str:
    """Return `value` if the node's schema allows it, else `fallback`: anyone may have written the file it is from."""
    return value if value in allowed else fallback


def word(item: Item, name: str) -> str:
    """A field of a file that anyone may have written: text, whatever stands there."""
    value = item.get(name)
    if value is None:
        return ""
    return value if isinstance(value, str) else jsonl.encode(value)


def cut(text: str, longest: int, mark: str = "…") -> str:
    """At most `longest` characters, fit for UTF-8."""
    return jsonl.clean(text if len(text) <= longest else text[: max(0, longest - len(mark))] + mark)


def first_line(text: str) -> str:
    return text[: 100 * PROMPT].strip().partition("\n")[0].partition("\r")[0].strip()
