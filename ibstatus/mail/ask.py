"""ask, questions, answer: what agents ask the user, and what they hear back."""

from typing import Any

from ibstatus.errors import IbError, UsageError, quoted
from ibstatus.mail import inbox, messages, questions, send
from ibstatus.project import agents, config, home, identity, logs, paths


def ask(
    place: paths.Place, caller: identity.Caller, parts: tuple[str, ...], claimed: str, now: float
) -> tuple[dict[str, Any], str]:
    """Keep a question for the user and wake the primary. For agents without a living manager."""
    sender, verified = send.claimed_sender(caller, claimed)
    if caller.kind != identity.AGENT and not claimed:
        raise UsageError(
            "Only an agent asks here, and this is not an agent's worktree", hint='speak for one: ib ask --id ID "…"'
        )
    text = send.text_of(parts)
    home.look(place)
    if not verified:
        sender = agents.resolve(place, sender)
    if not config.value(place, "allowAgentQuestions"):
        raise IbError(
            "Agents may not ask here: allowAgentQuestions is false",
            hint="decide yourself, or end the turn with WAITING",
        )
    manager = agents.living_manager(place, sender)
    if manager:
        raise IbError(
            f"{sender} has a manager, who answers its questions",
            hint=f"ib send {quoted(manager)} {quoted(short(text))}",
        )
    home.enter(place)
    agents.keep(place, sender)
    item, note = questions.ask(place, send.writer_of(caller), sender, verified, text, now)
    if caller.kind == identity.AGENT:
        logs.write(place, caller.name, f"Asked user question ({item['id']}): {text}", now)
    return item, note


def short(text: str) -> str:
    """For a hint: one line, not too long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= 80 else flat[:79] + "…"


def listed(place: paths.Place, everything: bool) -> tuple[list[dict[str, Any]], str]:
    """The questions, and what there is to say about their file."""
    if not home.look(place):
        return [], ""
    loaded = questions.all_of(place)
    return [item for item in loaded.items if everything or item.get("status") == questions.PENDING], loaded.note


def open_messages(place: paths.Place) -> tuple[list[dict[str, Any]], str]:
    """What agents told the user's Claude and nobody has acknowledged, and what there is to say about the file."""
    if not home.look(place):
        return [], ""
    loaded = messages.open_ones(place)
    return loaded.items, loaded.note


class Answered:
    """Which agent an answer went to, for which item; `state` as `ib send` says it: `delivered` once it was heard."""

    def __init__(self, item: str, agent: str, note: str, state: str) -> None:
        self.item = item
        self.agent = agent
        self.note = note
        self.state = state


def answer(place: paths.Place, caller: identity.Caller, item: str, parts: tuple[str, ...], now: float) -> Answered:
    """Send the answer to the agent that asked, and settle what it asked, in one step."""
    if caller.kind == identity.AGENT:
        raise IbError("An agent cannot answer for the user", hint="that is for the user's Claude or a person")
    text = send.text_of(parts)
    home.look(place)
    if item.startswith("msg-"):
        return answer_message(place, caller, item, text, now)
    asked = next((one for one in questions.all_of(place).items if one.get("id") == item), None)
    if asked is not None and "answer" not in asked:
        reachable(place, str(asked.get("agent")), item)
    found, note = questions.answer(place, send.writer_of(caller), caller.name, item, text, now)
    if found is None:
        raise IbError(f"There is no question {item}", hint="ib questions")
    agent = str(found["agent"])
    return Answered(item, agent, note, send.woken(place, agent))


def answer_message(place: paths.Place, caller: identity.Caller, item: str, text: str, now: float) -> Answered:
    """To whoever sent it. Delivered under an id of its own, so that trying again after a crash says nothing twice."""
    sent = next((one for one in messages.open_ones(place).items if one.get("id") == item), None)
    if sent is None:
        raise IbError(f"There is no open message {item}", hint="ib messages")
    agent = str(sent.get("from"))
    reachable(place, agent, item)
    told = inbox.deliver_answer(place, {"id": item, "agent": agent, "answer": text, "answered_by": caller.name}, now)
    if not told:
        raise IbError(f"{agent} is gone", hint=f"ib acknowledge {quoted(item)}")
    _, note = messages.acknowledge(place, send.writer_of(caller), caller.name, [item], now)
    if told != text:
        hint = f'say more: ib send {quoted(agent)} "…"'
        raise IbError(f"{item} was answered already: {short(told)}", hint=hint)
    return Answered(item, agent, note, send.woken(place, agent))


def reachable(place: paths.Place, agent: str, item: str) -> None:
    if not agents.exists(place, agent):
        raise IbError(f"There is no agent {agent} to answer", hint=f"ib acknowledge {quoted(item)}")
