"""Round after round with one session, all rungs armed, disturbed in every way: each message is told once a turn."""

import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from tests.peers.ladder import LISTEN, Ladder, Telling
from tests.peers.messages_api import Shown, Turn
from tests.peers.tui import Tui

QUIET, ESC_WAKE, SUBAGENT, ESC_TYPED, ESC_RACE = "quiet", "esc-wake", "subagent", "esc-typed", "esc-race"
PLAN = (QUIET, ESC_WAKE, SUBAGENT, QUIET, QUIET, ESC_TYPED, SUBAGENT, QUIET)
PLAN += (QUIET, ESC_WAKE, SUBAGENT, QUIET, QUIET, ESC_RACE, SUBAGENT, QUIET)
DELEGATE = Turn("Agent", {"description": "d", "prompt": "Work.", "subagent_type": "general-purpose"})


class Heard(NamedTuple):
    """What became of one message: how often turns that ended told it, how often turns that Esc or a kill ended did."""

    name: str
    kind: str
    plain: int
    again: int
    in_vain: int

    @property
    def is_right(self) -> bool:
        """Once in a turn that ended; marked exactly when an earlier telling was in vain."""
        return (self.plain, self.again) == ((0, 1) if self.in_vain else (1, 0)) and self.in_vain <= 1


class Rounds:
    """`play` them, then ask what was `heard`."""

    def __init__(self, ladder: Ladder, session: Tui, listens: bool = True) -> None:
        self.ladder = ladder
        self.session = session
        self.listens = listens
        self.kinds: dict[str, str] = {}
        self.waits: dict[str, float] = {}
        self.hold = ""  # the next request with this in it gets no answer
        self.in_vain: set[float] = set()
        ladder.api.rule = self.answer

    def answer(self, shown: Shown) -> Turn | None:
        if shown.agent:
            return Turn("Bash", {"command": "sleep 0.3", "description": "d"}) if len(shown.results) < 4 else None
        if self.hold and self.hold in shown.newest:
            self.hold = ""
            self.in_vain.add(shown.at)
            return Turn(silent=True)
        if "Delegate." in shown.newest:
            return DELEGATE
        over = re.search(r'"ib listen" completed', shown.newest)
        return LISTEN if self.listens and ("Begin." in shown.newest or over) else None

    def begin(self) -> None:
        self.session.submit("Begin.")
        self.session.until(lambda: self.ladder.turns(self.session) >= 1)

    def play(self, count: int, killed: int = -1, plan: tuple[str, ...] = PLAN) -> None:
        for number in range(count):
            name, kind = f"round-{number}", plan[number % len(plan)]
            self.kinds[name] = kind
            if kind == SUBAGENT:
                self.session.submit("Delegate.")
                self.session.until(lambda: self.ladder.api.of_subagents)
            if kind == ESC_TYPED:
                self.esc_typed(name)
            elif kind == ESC_RACE:
                self.esc_race(name, number % 7 / 50)
            elif kind == ESC_WAKE:
                self.esc_wake(name)
            else:
                self.tell(name)
            if number == killed:
                self.kill(f"round-{number}-killed")
            self.rest()

    def tell(self, name: str) -> None:
        began = self.ladder.notify(name)
        self.session.until(lambda: self.is_told(name), 30)
        if self.kinds[name] == QUIET:
            self.waits[name] = self.told_at(name) - began

    def esc_wake(self, name: str) -> None:
        """The wake is interrupted before its first word; the next message brings this one again."""
        self.hold = f'"{name}"'
        self.ladder.notify(name)
        self.session.until(lambda: self.is_told(name))
        self.escape()
        self.tell_again(name)

    def tell_again(self, name: str) -> None:
        self.session.submit("Go on.")
        self.session.until(lambda: self.heard_of(name).again, 30)

    def esc_typed(self, name: str) -> None:
        """A typed prompt is interrupted before the first word, and a message has come meanwhile."""
        self.hold = "Never answered."
        self.session.submit("Never answered.")
        self.session.until(lambda: not self.hold)
        self.ladder.notify(name)
        self.escape()
        self.session.until(lambda: self.is_told(name), 30)
        self.session.keys("C-u")

    def esc_race(self, name: str, delay: float) -> None:
        """The message and a typed prompt come at the same moment; the prompt is interrupted, whether it told or not."""
        self.hold = "Never answered."
        self.session.type("Never answered.")
        with ThreadPoolExecutor(1) as pool:
            notified = pool.submit(self.ladder.notify, name)
            time.sleep(delay)
            self.session.keys("Enter")
            notified.result()
        self.session.until(lambda: not self.hold)
        self.escape()
        self.session.keys("C-u")
        self.session.submit("Go on.")
        self.session.until(lambda: "Go on." in self.ladder.api.shown[-1].newest)

    def escape(self) -> None:
        self.session.keys("Escape")
        self.session.until(lambda: not self.session.is_busy)

    def kill(self, name: str) -> None:
        self.kinds[name] = "killed"
        self.hold = f'"{name}"'
        self.ladder.notify(name)
        self.session.until(lambda: self.is_told(name), 30)
        self.session.kill9()
        self.session.resume()
        self.tell_again(name)

    def rest(self) -> None:
        """Until nothing works any more, in front or behind."""
        self.session.until(lambda: self.is_at_rest(), 60)

    def is_at_rest(self) -> bool:
        screen = self.session.screen()
        busy = "esc to interrupt" in screen or "background agent" in screen.rpartition("✻")[2]
        return not busy and (self.session.line or "").strip() == ""

    def is_told(self, name: str) -> bool:
        return any(told == name for _, new in self.ladder.tellings(self.session) for told, _ in new)

    def told_at(self, name: str) -> float:
        return next(shown.at for shown, new in self.ladder.tellings(self.session) if new[name, False])

    def heard_of(self, name: str) -> Heard:
        ended: Counter[Telling] = Counter()
        in_vain = 0
        for shown, new in self.ladder.tellings(self.session):
            mine = Counter({telling: count for telling, count in new.items() if telling[0] == name})
            if shown.at in self.in_vain:
                in_vain += mine.total()
            else:
                ended += mine
        return Heard(name, self.kinds[name], ended[name, False], ended[name, True], in_vain)

    def heard(self) -> list[Heard]:
        return [self.heard_of(name) for name in self.kinds]
