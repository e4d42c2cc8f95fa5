"""What the supervisor remembers of each agent: the episode that it is in, and what was done about it."""

from collections.abc import Mapping, Sequence

import msgspec

from ibstatus.model.records import Agent

OLD = 120.0  # what was reached so long before the very first look is no news
SLACK, SAME = 1.0, 0.01  # seconds between two words on one thing; where it was seen at work in between, none
AT_WORK = ("running", "creating", "compacting")
CRASHED = ("was killed", "ended with exit code ")
LIMITED = (("rate_limited", ""), ("waiting", "limit"))
INPUT = "waiting:input"
UNSURE = ("screen", "transcript")


class Episode(msgspec.Struct, frozen=True):
    """`kind` is '' until it rests for the first time; `id`: under which its notice is written, kept before that is.
    `ran`: since when it was last at work; `warned`: the agents that it was told to see to before it completes;
    `compacted`: its context was found too full, and has not been found smaller since."""

    kind: str = ""
    since: float = 0.0
    said: str = ""
    told: bool = False
    id: str = ""
    left: bool = False
    ran: float = 0.0
    warned: list[str] = []
    nudges: int = 0
    nudged: float = 0.0
    compacted: bool = False


def is_limited(agent: Agent) -> bool:
    return agent.state == "rate_limited" or (agent.state, agent.reason) in LIMITED


def kind_of(agent: Agent) -> str:
    """What may be news: '' while it is at work, unknown, ended by somebody of us, or held by a limit."""
    if is_limited(agent):
        return ""
    if agent.state == "stopped":
        return "stopped:" + agent.reason if agent.reason.startswith(CRASHED) else ""
    if agent.state == "waiting":
        return "waiting:" + (agent.reason or "input")
    return agent.state if agent.state == "complete" else ""


def seen(agents: Sequence[Agent], before: Mapping[str, Episode] | None, now: float, first: bool) -> dict[str, Episode]:
    """`before` is None when no supervisor has ever looked; `first`: this one looks for the first time."""
    known = before or {}
    found = {agent.id: after(agent, known.get(agent.id, Episode()), first) for agent in agents}
    if before is None:
        for agent in agents:
            if found[agent.id].since < now - OLD:
                found[agent.id] = msgspec.structs.replace(found[agent.id], told=True)
    return found


def after(agent: Agent, old: Episode, first: bool) -> Episode:
    kind, since = kind_of(agent), agent.since or 0.0
    if not kind:
        if agent.state == "running" and (not old.left or not old.ran):
            return msgspec.structs.replace(old, left=True, ran=since)
        return old if old.left or agent.state != "running" else msgspec.structs.replace(old, left=True)
    if kind == old.kind and not is_new(agent, old, since, first):
        said = old.said or agent.said
        same = (old.left, old.since, old.said) == (False, since, said)
        return old if same else msgspec.structs.replace(old, left=False, since=since, said=said)
    kept = agent.silent and kind == INPUT
    return msgspec.structs.replace(
        old,
        kind=kind,
        since=since,
        said=agent.said,
        told=False,
        id="",
        left=False,
        ran=old.ran if old.left else old.since or old.ran,
        nudges=old.nudges if kept or kind != INPUT else 0,
    )


def is_new(agent: Agent, old: Episode, since: float, first: bool) -> bool:
    """The same word again, after something else. A supervisor that has just come up cannot know since when a screen
    shows what it shows; a compaction ends nothing, and neither does one look that failed."""
    if agent.said and old.said and agent.said != old.said:
        return True
    if abs(since - old.since) <= (SAME if old.left else SLACK) or (first and agent.source in UNSURE):
        return False
    return old.left or bool(agent.said) or not old.said
