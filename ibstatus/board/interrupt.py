"""Ctrl-C and SIGTERM for commands that wait: at once while they wait, never between a change and its word."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Ended(KeyboardInterrupt):
    """Somebody wants this to end: as Ctrl-C is heard elsewhere, SIGTERM included."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Ending:
    """Within `held()` the first signal waits for the end of it; the second one does not."""

    def __init__(self) -> None:
        self.asked = 0
        self.is_held = False

    def hear(self, number: int, frame: FrameType | None) -> None:
        first, self.asked = not self.asked, number
        if not (self.is_held and first):
            raise Ended(number)

    @contextmanager
    def held(self) -> Iterator[None]:
        self.is_held = True
        try:
            yield
        finally:
            self.is_held = False
        if self.asked:
            raise Ended(self.asked)


@contextmanager
def heard() -> Iterator[Ending]:
    ending = Ending()
    before = {number: signal.signal(number, ending.hear) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
