"""One look at the clocks, and whether the machine has slept between two."""

from typing import NamedTuple

SLEPT = 30.0


class Clock(NamedTuple):
    """One look at the clocks: `mono` stands still while the machine sleeps, `boot` and `wall` go on."""

    mono: float
    boot: float
    wall: float


def has_slept(before: Clock, now: Clock) -> bool:
    return (now.boot - before.boot) - (now.mono - before.mono) > SLEPT
