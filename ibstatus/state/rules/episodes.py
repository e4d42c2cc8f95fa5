"""What the supervisor remembers of each agent: the episode that it is in, and what was done about it."""

from collections.abc import Mapping, Sequence

import msgspec

from ibstatus.model.fleet import Agent

OLD = 120.0  # what was reached so long before the very first look is no news
SLACK, SAME = 1.0, 0.01  # seconds between two words on one thing; where it was seen at work in between, none
CRASHED = ("was killed", "ended with exit code ")
LIMITED = (("rate_limited", ""), ("waiting", "limit"))
TWICE = 60.0  # seconds within which an end in the same words is the same one, heard again
INPUT = "waiting:input"
UNSURE = ("screen", "transcript")
ENDED, KILLED = "stopped", "stopped:was killed"
ASKED = tuple("waiting:" + reason for reason in ("permission", "question", "plan"))
KEPT = 600.0  # seconds that one that is not there any more is remembered


class Episode(msgspec.Struct, frozen=True):
    """`kind` is '' until it rests for the first time; `id`: under which its notice is written, kept before that is.
    `ran`: since when it was last at work; `heard`: kind, since and words of what was told last; `warned`: the agents
    that it was told to see to before it completes; `compacted`: its context was found too full, and has not been found
    smaller since; `to`: the manager that was told and may not have read it yet; `gone`: since when it is not there;
    `nudged`: when, in this rest; `created`: which agent of its name."""

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
    heard: tuple[str, float, str] = ("", 0.0, "")
    to: str = ""
    gone: float = 0.0
    created: float = 0.0


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
    found = {agent.id: named(agent, after(agent, of_before(agent, known), first)) for agent in agents}
    for name, old in known.items():
        if name not in found and (not old.gone or 0 <= now - old.gone < KEPT):
            found[name] = old if old.gone else msgspec.structs.replace(old, gone=now)
    if before is None:
        for agent in agents:
            if found[agent.id].since < now - OLD:
                found[agent.id] = msgspec.structs.replace(found[agent.id], told=True)
    return found


def of_before(agent: Agent, known: Mapping[str, Episode]) -> Episode:
    """One that a look has missed goes on; another one of its name begins anew."""
    old = known.get(agent.id, Episode())
    if old.created and agent.created and old.created != agent.created:
        return Episode()  # nobody looked when the earlier one was removed
    if not old.created and 0 < old.nudged < old.since:
        old = msgspec.structs.replace(old, nudged=0.0)  # noted by an earlier version: of an earlier rest
    if not old.gone:
        return old
    return Episode() if (agent.created or 0.0) > old.gone else msgspec.structs.replace(old, gone=0.0)


def named(agent: Agent, found: Episode) -> Episode:
    created = agent.created or found.created
    return found if found.created == created else msgspec.structs.replace(found, created=created)


def after(agent: Agent, old: Episode, first: bool) -> Episode:
    kind, since = kind_of(agent), agent.since or 0.0
    if not kind:
        return at_work(agent, old, since)
    if kind == old.kind and not is_new(agent, old, since, first):
        said = old.said or agent.said
        same = (old.left, old.since, old.said) == (False, since, said)
        return old if same else msgspec.structs.replace(old, left=False, since=since, said=said)
    if is_only_back(agent, old, kind):
        return msgspec.structs.replace(old, kind=kind, since=since, told=old.told or old.kind != kind)
    heard = (old.kind, old.since, old.said) if old.told else old.heard
    # A screen has been believed for a moment, an older one or that of a dialog.
    known = [one for one in (heard, old.heard) if one[::2] == (kind, agent.said) and abs(one[1] - since) <= SAME]
    return msgspec.structs.replace(
        old,
        kind=kind,
        since=since,
        said=agent.said,
        told=bool(known) or is_over(agent, old, kind),
        id="",
        heard=known[0] if known else heard,
        left=False,
        ran=old.ran if old.left else old.since or old.ran,
        nudges=old.nudges if is_nudged(agent, old, kind) else 0,
        nudged=0.0 if is_other(agent, old) else old.nudged,
        to="",
    )


def is_over(agent: Agent, old: Episode, kind: str) -> bool:
    """Everybody knows that it was complete, and nobody was asked to go on: a server was ended, or the machine."""
    known = old.kind == "complete" and old.told and not (old.left or old.warned)
    return known and kind == KILLED and agent.said in ("", old.said)


def at_work(agent: Agent, old: Episode, since: float) -> Episode:
    """What it is asked in between ends no turn; one that was ended at work is not at work when its client is back."""
    if agent.state == "stopped" and old.left:
        return msgspec.structs.replace(old, kind=ENDED, since=since, told=True, left=False, id="", to="")
    if agent.state != "running" or (old.left and old.ran):
        return old
    asked = old.kind in ASKED and old.ran and not old.left
    return msgspec.structs.replace(old, left=True, ran=old.ran if asked else since)


def is_only_back(agent: Agent, old: Episode, kind: str) -> bool:
    """Its client was begun again, and no turn has run since."""
    return kind == INPUT and old.kind != "" and not (old.left or agent.said or agent.silent)


def is_nudged(agent: Agent, old: Episode, kind: str) -> bool:
    """Is this the end of the turn that a nudge made, or that same end heard twice? One that was given to an earlier
    rest is forgotten."""
    late = is_other(agent, old) and not old.nudged and not old.kind.startswith(ASKED)
    return old.nudges > 0 and (kind in ASKED or (agent.silent and kind == INPUT and not late))


def is_other(agent: Agent, old: Episode) -> bool:
    """A turn that came and went between two looks may end in the same words, but not so soon."""
    return old.left or agent.said != old.said or (agent.since or 0.0) - old.since > TWICE


def is_new(agent: Agent, old: Episode, since: float, first: bool) -> bool:
    """The same word again, after something else. A supervisor that has just come up cannot know since when a screen
    shows what it shows; a compaction ends nothing, and neither does one look that failed."""
    if agent.said and old.said and agent.said != old.said:
        return True
    if abs(since - old.since) <= (SAME if old.left else SLACK) or (first and agent.source in UNSURE):
        return False
    return old.left or bool(agent.said) or not old.said
