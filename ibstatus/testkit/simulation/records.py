"""What a simulation writes down of what it did and saw: all that the promises are judged by.

The clock of a simulation: it runs as the real one does, and leaps when all is settled.
"""

import math
import os
import struct
import time
from dataclasses import dataclass, field
from typing import NamedTuple


class Sent(NamedTuple):
    """A message on its way: its mark stands in its text. `heard`: how often its reader was told it; `again`: of these,
    how often marked as a repeat."""

    mark: str
    reader: str
    at: float
    heard: int = 0
    again: int = 0


class Wrong(NamedTuple):
    """A state that was published and not so, for how many simulated seconds."""

    who: str
    at: float
    wanted: str
    shown: str
    seconds: float
    act: str = ""


class Limit(NamedTuple):
    """`resumed` is None when nobody woke the agent after its limit."""

    who: str
    reset: float
    resumed: float | None


class Notice(NamedTuple):
    """`to`: the manager that was told, '' is the primary; `vain`: its session was over before it had read it."""

    who: str
    text: str
    at: float
    to: str = ""
    vain: bool = False


class Episode(NamedTuple):
    """An agent in a state that may be told of, from when to when; `asks`: a dialog is open."""

    who: str
    began: float
    ended: float
    asks: bool = False


@dataclass
class Record:
    sent: list[Sent] = field(default_factory=list)
    wrong: list[Wrong] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    episodes: list[Episode] = field(default_factory=list)
    nudges: list[Notice] = field(default_factory=list)
    quiet: list[Episode] = field(default_factory=list)  # of each agent, while nobody told or did anything to it
    outages: list[float] = field(default_factory=list)  # real seconds until the supervisor was up again, inf: never
    orphans: list[str] = field(default_factory=list)
    lost_commits: list[str] = field(default_factory=list)
    outside: str = ""  # how CLAUDE.md differs outside of the node
    failures: list[str] = field(default_factory=list)  # commands of ib that failed, and should not have
    acts: dict[str, int] = field(default_factory=dict)
    looks: int = 0  # states that were compared with the truth


class Clock:
    """Seconds since 1970, as every process of the world sees them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.ahead = 0.0
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.write()

    def now(self) -> float:
        return time.time() + self.ahead

    def leap(self, to: float) -> None:
        """Never back: who was late has used the time up. By whole seconds, because tmux goes by the real clock, and
        what goes by tmux counts on its seconds."""
        self.ahead = max(self.ahead, math.ceil(to - time.time()))
        self.write()

    def write(self) -> None:
        os.pwrite(self.file, struct.pack("d", self.ahead), 0)

    def close(self) -> None:
        os.close(self.file)
