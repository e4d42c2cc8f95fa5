"""ask, questions, answer: what agents ask the user, and what they hear back."""

from typing import Any

from ibstatus.errors import IbError, UsageError
from ibstatus.ops import say
from ibstatus.rules import identity
from ibstatus.store import agent_log, agents, config, home, places, questions


def ask(
    place: places.Place, caller: identity.Caller, parts: tuple[str, ...], claimed: str, now: float
) -> tuple[dict[str, Any], str]:
    """Keep a question for the user and wake the primary. For agents without a living manager."""
    sender, verified = say.claimed_sender(caller, claimed)
    if caller.kind != identity.AGENT and not claimed:
        raise UsageError(
            "Only an agent asks here, and this is not an agent's worktree", hint='speak for one: ib ask --id ID "…"'
        )
    text = say.text_of(parts)
    home.look(place)
    if not config.value(place, "allowAgentQuestions"):
        raise IbError(
            "Agents may not ask here: allowAgentQuestions is false",
            hint="decide yourself, or end the turn with WAITING",
        )
    manager = agents.living_manager(place, sender)
    if manager:
        raise IbError(f"{sender} has a manager, who answers its questions", hint=f'ib send {manager} "{short(text)}"')
    home.enter(place)
    agents.keep(place, sender)
    item, note = questions.ask(place, say.writer_of(caller), sender, verified, text, now)
    if caller.kind == identity.AGENT:
        agent_log.write(place, caller.name, f"Asked user question ({item['id']}): {text}", now)
    return item, note


def short(text: str) -> str:
    """For a hint: one line that can be pasted between double quotes."""
    flat = " ".join(text.split()).replace('"', "'").replace("\\", "/").replace("$", "").replace("`", "'")
    return flat if len(flat) <= 80 else flat[:79] + "…"


def listed(place: places.Place, everything: bool) -> tuple[list[dict[str, Any]], str]:
    """The questions, and what there is to say about their file."""
    if not home.look(place):
        return [], ""
    loaded = questions.all_of(place)
    return [item for item in loaded.items if everything or item.get("status") == questions.PENDING], loaded.note


def answer(
    place: places.Place, caller: identity.Caller, question: str, parts: tuple[str, ...], now: float
) -> tuple[dict[str, Any], str]:
    """Send the answer to the agent that asked, and settle the question, in one step."""
    if caller.kind == identity.AGENT:
        raise IbError("An agent cannot answer the user's questions", hint="that is for the user's Claude or a person")
    text = say.text_of(parts)
    home.look(place)
    asked = next((item for item in questions.all_of(place).items if item.get("id") == question), None)
    if asked is not None and "answer" not in asked and not agents.exists(place, str(asked.get("agent"))):
        raise IbError(f"{asked.get('agent')}, who asked, is gone", hint=f"ib acknowledge {question}")
    item, note = questions.answer(place, say.writer_of(caller), caller.name, question, text, now)
    if item is None:
        raise IbError(f"There is no question {question}", hint="ib questions")
    return item, note
