"""What tmux and the screen show of an agent, kept from look to look: since when, and when it is looked at again."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ibstatus.model.records import Agent
from ibstatus.rules.screen_states import Shown

SOON = 0.4  # a screen that says something else than what is published is looked at again
DOUBT = 3.0  # for so long
BRISK, CALM = 1.0, 5.0
STILL = 2.0  # a screen that has not changed for so long while it should may belong to a suspended client
SETTLED = 1.05  # tmux counts whole seconds: what changed within the second of a capture shows only in another one
NOT_ASKED = "tmux does not answer"
MOVING = ("creating", "running", "compacting", "rate_limited", "unknown")
DIALOGS = ("permission", "question", "plan", "trust", "limit")


class Sight(NamedTuple):
    """`there`: is its session there (None: tmux could not be asked), `shown`: what its screen says, and since when
    without a break (`at`), looked at last (`seen`), the screen itself changed last (`changed`); all wall clock."""

    there: bool | None
    dead: bool = False
    suspended: bool = False
    shown: Shown | None = None
    at: float = 0.0
    seen: float = 0.0
    changed: float = 0.0
    note: str = ""


def after(before: Sight | None, found: Sight, now: float) -> Sight:
    """The new sight, with the times of what has gone on. `found.changed` is 0 where the screen is as it was."""
    at = before.at if before is not None and same(before, found) else now
    changed = found.changed or (before.changed if before is not None else now)
    return found._replace(at=min(at, now), seen=now, changed=min(changed, now))


def same(one: Sight, other: Sight) -> bool:
    """Do both show the same, whenever that was?"""
    return one[:4] == other[:4] and one.note == other.note


def is_at_odds(sight: Sight, agent: Agent | None) -> bool:
    """Does the screen say something else than what is published?"""
    if sight.shown is None or agent is None or sight.shown.state == "unknown":
        return False
    if sight.shown.state == agent.state:
        return bool(sight.shown.reason) and sight.shown.reason != agent.reason
    return not (sight.shown.idle and agent.state in ("waiting", "complete", "stopped"))


def can_change(agent: Agent) -> bool:
    """Without a hook telling of it: work goes on, or a person may answer what stands on its screen."""
    return agent.state in MOVING or (agent.state == "waiting" and agent.reason in DIALOGS)


def pace(agents: Iterable[Agent]) -> float:
    """Seconds from one tick to the next."""
    return BRISK if any(can_change(agent) for agent in agents) else CALM


def asks_for_a_look(told: Mapping[str, str] | None) -> bool:
    """Does a command have to see the screen of one whose hooks said this last? Not of one that rests."""
    if told is None:
        return True
    return told["state"] in MOVING or (told["state"] == "waiting" and told["reason"] in DIALOGS)
