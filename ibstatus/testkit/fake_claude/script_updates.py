"""`orders FILE`: steps that somebody adds to a file while we run, so that a rehearsal is conducted from outside.

FILE.at says how many lines were taken and how the last turn ended: a session that is resumed goes on behind them.
"""

import os
import time
from typing import NamedTuple

from ibstatus.testkit.fake_claude.script import Step, steps

POLL = 2.0  # a signal such as SIGCHLD makes it look at once
ENDS = ("wait", "finish", "end", "error", "limit")
OVER = Step("wait", "")


class At(NamedTuple):
    taken: int = 0
    end: Step = OVER


def next_of(path: str) -> Step:
    """Without an order the turn ends as the last one did: who has reached the goal has reached it, a limit lasts."""
    at, given = position(path), lines(path)
    if at.taken >= len(given):
        return at.end
    step = (steps([given[at.taken]]) or [Step("work", "0")])[0]
    if step.verb == "hold":  # somebody may interrupt it
        note(path, At(at.taken + 1))
        return Step("hold", f"{path}\n{step.rest}" if step.rest else path)
    note(path, At(at.taken + 1, step if step.verb in ENDS else at.end))
    return step


def has_more(path: str) -> bool:
    return position(path).taken < len(lines(path))


def lines(path: str) -> list[str]:
    """A line that is still being written waits."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().split("\n")[:-1]
    except OSError:
        return []


def position(path: str) -> At:
    try:
        with open(path + ".at", encoding="utf-8") as file:
            number, _, end = file.read().partition(" ")
        return At(int(number), (steps([end]) or [OVER])[0])
    except (OSError, ValueError):
        return At()


def note(path: str, at: At) -> None:
    with open(path + ".at.new", "w", encoding="utf-8") as file:
        file.write(f"{at.taken} {at.end.verb} {at.end.rest}")
    os.replace(path + ".at.new", path + ".at")


class More:
    """Until there is a next order."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def deadline(self) -> float:
        return time.monotonic() + POLL

    def over(self, now: float) -> bool:
        return has_more(self.path)
