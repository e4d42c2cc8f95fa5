"""At which steps a test kills or fails something: at some in `make check`, at each in `make soak`.

A test that does so is marked `sweep`, and what runs only in `make soak` is marked `soak`.
"""

import os
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

import pytest

Step = TypeVar("Step")
SOAK = os.environ.get("IB_SOAK") == "1"
UNTIL = float(os.environ.get("IB_SOAK_UNTIL", "inf"))  # the clock time at which a soak begins nothing more


def is_over() -> bool:
    return time.time() > UNTIL


def spread(steps: Sequence[Step], most: int) -> list[Step]:
    """Return at most so many: the first, the last, and an even spread between them."""
    if SOAK or len(steps) <= most:
        return list(steps)
    return [steps[round(number * (len(steps) - 1) / (most - 1))] for number in range(most)]


class Sweep:
    """The numbers of the steps at which a test strikes, until the last step is known.

        sweep = Sweep(every=10)
        for at in sweep:
            …
            sweep.tell(struck)

    In a check: the first, every tenth, and the last one, which is looked for between the last two of those (unless it
    need not be `exact`): the numbers go up, and then to and fro. In a soak: each one, in order.
    """

    def __init__(self, every: int, longest: int = 1000, *, exact: bool = True) -> None:
        self.every = 1 if SOAK else every
        self.exact = exact
        self.longest = longest
        self.at = self.last = 0  # `last` is the highest step that was reached, `beyond` the lowest that was not
        self.beyond: int | None = None

    def __iter__(self) -> Iterator[int]:
        while self.beyond is None or (self.exact and self.beyond > self.last + 1):
            if is_over():
                pytest.skip(f"the time is over after step {self.at}")
            last, self.at = self.at, self.following()
            assert self.at != last, "tell() was not called"
            assert self.at <= self.longest, "it never passes"
            yield self.at

    def following(self) -> int:
        if self.beyond is not None:
            return (self.last + self.beyond) // 2
        return self.last + self.every if self.last else 1

    def tell(self, reached: bool) -> None:
        """Say whether what was tried had as many steps as `at`."""
        if reached:
            self.last = self.at
        else:
            self.beyond = self.at
