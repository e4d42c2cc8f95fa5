"""What the supervisor has to do, and when. Pure: the clock is handed in, the loop only does what stands here."""

from collections.abc import Hashable
from typing import NamedTuple

from ibstatus.model.clock import Clock, has_slept

APART = 30.0  # between two writes of the node
QUIET = 2.0  # without a change, before what changed is written
AGES_AFTER = 900.0
LEAVE_AFTER = 60.0
STUCK = 5  # times as long, when something still waits to be written
NEVER = float("-inf")


class Fleet(NamedTuple):
    """What there is, reduced to what decides: equal keys, nothing to do. `ages` is what time alone changes."""

    snapshot: Hashable
    node: Hashable
    questions: Hashable
    ages: Hashable
    needed: bool


class Past(NamedTuple):
    """What was done, and since when something waits. Times are of the monotonic clock."""

    published: Hashable = None
    shown: Hashable = None
    shown_questions: Hashable = None
    shown_ages: Hashable = None
    written: float = NEVER
    seen: Hashable = None
    first: float | None = None
    last: float | None = None
    needed: float | None = None
    clock: Clock | None = None


class Due(NamedTuple):
    """The duties of one look, and when to look again for the next that waits (None: nothing does)."""

    publish: bool
    write: bool
    leave: bool
    slept: bool
    again: float | None


def due(fleet: Fleet, past: Past, now: Clock) -> tuple[Due, Past]:
    """The duties of this moment, and the past with what was seen. What is done is noted by `done_*`."""
    slept = past.clock is not None and has_slept(past.clock, now)
    past = seen(fleet, past, now)
    at = node_at(fleet, past, slept, now)
    waiting = past.first is not None  # not where only the ages are old
    patience = LEAVE_AFTER * (STUCK if waiting else 1)
    leave_at = None if past.needed is None else past.needed + patience
    leave = leave_at is not None and now.mono >= leave_at and not slept
    write = at is not None and now.mono >= at
    times = [time for time in (at, leave_at) if time is not None and time > now.mono]
    return Due(fleet.snapshot != past.published, write, leave, slept, min(times, default=None)), past


def seen(fleet: Fleet, past: Past, now: Clock) -> Past:
    """Note since when something waits to be shown, and since when nobody needs us."""
    if past.clock is not None and has_slept(past.clock, now):
        past = past._replace(needed=now.mono)  # an hour asleep is not an hour without need
    if fleet.node == past.shown:
        past = past._replace(first=None, last=None)
    elif past.first is None or fleet.node != past.seen:
        past = past._replace(first=past.first if past.first is not None else now.mono, last=now.mono)
    idle_since = now.mono if fleet.needed or past.needed is None else past.needed
    return past._replace(seen=fleet.node, needed=idle_since, clock=now)


def node_at(fleet: Fleet, past: Past, slept: bool, now: Clock) -> float | None:
    """When the node is to be written: a question at once, the rest after some quiet and apart from the last write."""
    if past.first is None or past.last is None:
        if fleet.ages == past.shown_ages:
            return None
        return now.mono if slept else past.written + AGES_AFTER
    if fleet.questions != past.shown_questions or past.shown is None:
        return past.first
    return max(past.written + APART, min(past.last + QUIET, max(past.written, past.first) + APART))


def done_publishing(past: Past, fleet: Fleet) -> Past:
    return past._replace(published=fleet.snapshot)


def done_writing(past: Past, fleet: Fleet, now: Clock) -> Past:
    """The node shows this fleet now."""
    return past._replace(
        shown=fleet.node,
        shown_questions=fleet.questions,
        shown_ages=fleet.ages,
        written=now.mono,
        first=None,
        last=None,
    )
