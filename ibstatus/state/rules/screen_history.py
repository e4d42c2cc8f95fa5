"""What tmux and the screen show of an agent, kept from look to look: since when, and when it is looked at again."""

from collections.abc import Iterable, Mapping

from ibstatus.model.clock import Clock
from ibstatus.model.fleet import Agent
from ibstatus.state.rules import evidence
from ibstatus.state.rules.known import Sight, Told
from ibstatus.state.rules.tmux_outage import UNSEEN

AGAIN = 0.35  # between two looks of a command, for one that is to hold (evidence.HELD)
SOON = 0.4  # a screen that says something else than what is published is looked at again
DOUBT = 4.0  # for so long; longer than the rule takes that waits longest for a screen (evidence.RESTLESS)
BRISK, CALM, ASLEEP = 1.0, 1.2, 5.0
UNMOVED = 0.35  # a screen that stands still for so long, and should not: its client may be stopped or gone
BUSY_EVERY, REST_EVERY = 0.9, 0.6  # so often the processes of such a pane are asked for, and those of one at rest
ASKED = 16  # so many in one tick
SETTLED = 0.05  # tmux counts whole seconds: what changed within the second of a capture shows only in one of the next
NOT_ASKED = UNSEEN
STEP = 2.0  # by so much a clock that nobody sets does not drift
MOVING = ("creating", "running", "compacting", "rate_limited", "unknown")


def after(before: Sight | None, found: Sight, now: float) -> Sight:
    """The new sight, with the times of what has gone on. `found.changed` is 0 where the screen is as it was."""
    at = before.at if before is not None and same(before, found) else now
    changed = found.changed or (before.changed if before is not None else now)
    return found._replace(at=min(at, now), seen=now, changed=min(changed, now))


def same(one: Sight, other: Sight) -> bool:
    """Do both show the same, whenever that was?"""
    return one[:4] == other[:4] and (one.note, one.gone) == (other.note, other.gone)


def is_at_odds(sight: Sight, agent: Agent | None) -> bool:
    """Does the screen say something else than what is published?"""
    if sight.shown is None or agent is None or sight.shown.state == "unknown":
        return False
    if sight.shown.state == agent.state:
        return bool(sight.shown.reason) and sight.shown.reason != agent.reason
    return not (sight.shown.idle and agent.state in ("waiting", "complete", "stopped"))


def is_in_doubt(sight: Sight, agent: Agent | None, now: float) -> bool:
    """Is it to be looked at again soon? What shows the same as before may be a new word all the same: a turn came and
    went between two looks, or began a moment ago and is not drawn yet."""
    newest = max(sight.at, sight.changed, (agent.since or 0.0) if agent is not None else 0.0)
    return abs(now - newest) < DOUBT and is_at_odds(sight, agent)


def is_unproven(sight: Sight, told: Told | None, now: float) -> bool:
    """A prompt line where hooks say that something goes on: only a second look knows whether it holds."""
    if told is None or sight.shown is None or not sight.shown.idle or now - told.at < evidence.NEWER - AGAIN:
        return False
    working = told.state in evidence.WORKING and told.reason != "background"
    return working or told.state == "stopped" or (told.state == "waiting" and told.reason in evidence.DIALOGS)


def is_suspect(sight: Sight, now: float) -> bool:
    """Of an agent that is said to work: does its screen leave open whether it does?"""
    return sight.suspended or sight.gone or abs(now - sight.changed) >= UNMOVED


def has_stepped(before: Clock, now: Clock) -> bool:
    """Was the wall clock set? Then what was seen before is neither old nor new by it."""
    return abs((now.wall - before.wall) - (now.boot - before.boot)) > STEP


def turn(agents: int, *, is_busy: bool) -> float:
    """Seconds until one's processes are asked for again: of many each has its turn."""
    return max(BUSY_EVERY if is_busy else REST_EVERY, BRISK * agents / ASKED)


def settled_in(wall: float) -> float:
    """Seconds until a change shows in tmux's clock, whatever it showed within this second."""
    return 1.0 - wall % 1.0 + SETTLED


def can_change(agent: Agent) -> bool:
    """Without a hook telling of it: work goes on, or a person may answer what stands on its screen."""
    return agent.state in MOVING or (agent.state == "waiting" and agent.reason in evidence.DIALOGS)


def pace(agents: Iterable[Agent]) -> float:
    """Seconds from one tick to the next."""
    found = ASLEEP
    for agent in agents:
        if can_change(agent):
            return BRISK
        if agent.state != "stopped":
            found = CALM
    return found


def asks_for_a_look(told: Mapping[str, str] | None) -> bool:
    """Does a command have to see the screen of one whose hooks said this last? Not of one that rests."""
    if told is None:
        return True
    return told["state"] in MOVING or (told["state"] == "waiting" and told["reason"] in evidence.DIALOGS)
