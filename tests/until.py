"""Retry an assertion until it holds; the time is only how long to hope."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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


@contextmanager
def meanwhile(does: Callable[[], object], every: float) -> Iterator[None]:
    """Over and over, beside what is done here."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(every):
            does()

    beside = threading.Thread(target=repeat)
    beside.start()
    try:
        yield
    finally:
        over.set()
        beside.join()
