"""Retry an assertion until it holds; the time is only how long to hope."""

import time
from collections.abc import Callable


def until(holds: Callable[[], object], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"still not true after {seconds} s: {holds}"
        time.sleep(0.01)


def seen_within(holds: Callable[[], object], seconds: float) -> bool:
    """For what may be done once more."""
    deadline = time.monotonic() + seconds
    while not (seen := bool(holds())) and time.monotonic() < deadline:
        time.sleep(0.05)
    return seen
