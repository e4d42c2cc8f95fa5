"""Waiting until the world shows what is so and everybody has been told; what does not come is written down."""

import os
import time
from collections.abc import Callable, Iterator
from threading import Lock

from ibstatus.claude import hook_state, transcript
from ibstatus.mail import inbox
from ibstatus.project import agent_meta
from ibstatus.state import snapshot
from ibstatus.testkit.simulation import observe
from ibstatus.testkit.simulation.observe import Ears
from ibstatus.testkit.simulation.plan import Plan
from ibstatus.testkit.simulation.records import Limit, Record, Sent, Wrong
from ibstatus.testkit.simulation.world import PRIMARY, SESSION, World

LOOK, PATIENCE, STEP = 0.05, 2.5, 20.0  # real, real, simulated seconds
STAGGERED = 600.0
LOOKED = 3.0
EARLY = 0.05  # real: so near to the beginning of a second nothing has been drawn in it
FRESH, SECONDS = 5.0, 3
LESS = 0.9  # real: what time alone brings comes at once
MINUTE, LATEST = 60.0, 90.0


class Settling:
    """`truths` is what is so; `sent`, what is on its way."""

    def __init__(self, world: World, plan: Plan, say: Callable[[str], None]) -> None:
        self.world, self.plan, self.say = world, plan, say
        self.record = Record()
        self.managers = {who.name: who.manager for who in plan.agents}
        self.yolo = {who.name for who in plan.agents if who.yolo}
        self.truths = {who.name: observe.IDLE for who in plan.agents}
        self.idle = dict(self.truths)
        self.doing = dict.fromkeys(self.truths, "start")
        self.given_up: dict[str, observe.Truth] = {}
        self.sent: dict[str, Sent] = {}
        self.ears: dict[str, Ears] = {}
        self.resets: dict[str, float] = {}
        self.parked: dict[str, float] = {}  # who is to be sent on by ib, and since when
        self.resumed = 0.0  # when the last of them was
        self.odd: dict[str, float] = {}  # who is shown as what is not so, and since when without a break
        self.wrong: dict[str, Wrong] = {}
        self.late: list[str] = []
        self.notices = observe.Told(world.place)
        self.merging = Lock()
        self.second = 0.0  # of the real clock, in which the last leap was looked at
        self.doubted: set[str] = set()  # marks that we wait for no more, before the end
        self.began = world.clock.now()

    def now(self) -> float:
        """Simulated seconds since the beginning."""
        return self.world.clock.now() - self.began

    def leap(self, to: float) -> None:
        """An hour that is left out is one in which every screen was looked at to the end. So it is left out where a
        second of tmux begins: whatever is still drawn then shows as new. And the supervisor has looked after it."""
        for _ in range(SECONDS):
            if not is_early():
                time.sleep(1.0 - time.time() % 1.0)
            if not self.in_a_turn():
                break
            time.sleep(EARLY)
        self.world.clock.leap(to)
        began = self.world.clock.now()
        self.world.poke()
        self.waits(lambda: observe.looked_at(snapshot.path_of(self.world.place)) >= began, LOOKED)
        self.second = time.time() // 1.0

    def settle(self) -> None:
        """Until the world shows what is so and everybody has been told; a leap of a quarter minute now and then."""
        self.late = []
        began, patience = self.now(), time.monotonic() + PATIENCE
        while True:
            self.forgive()
            self.note_resumed()
            left = [who for who in self.differing() if who not in self.given_up]
            self.watch(left)
            unheard = self.unheard()
            if not left and not unheard and not self.unread():
                if is_early():
                    break
                time.sleep(1.0 - time.time() % 1.0)  # and is that so at the beginning of a second, too?
                continue
            if self.now() - max(began, self.resumed) > (STAGGERED if self.parked else LATEST):
                if self.parked:
                    self.send_on()
                    continue
                self.given_up.update((who, self.truths[who]) for who in left if who in self.wrong)
                self.doubted.update(unheard)
                break
            if time.monotonic() > patience:
                self.late = [*(self.expected(who) for who in left), *(f"{m} to {self.sent[m].reader}" for m in unheard)]
                self.leap(self.world.clock.now() + (STEP if set(left) - set(self.parked) else MINUTE))
                patience = time.monotonic() + LESS
            time.sleep(LOOK)
        self.record.wrong += self.wrong.values()
        self.odd, self.wrong = {}, {}
        self.record.looks += len(self.truths)

    def watch(self, left: list[str]) -> None:
        """Who is limited until ib sends it on is shown as what is so."""
        now = self.now()
        self.odd = {who: self.odd.get(who, now) for who in left if who not in self.parked}
        for who, since in self.odd.items():
            if now - since > MINUTE:
                wanted, shown = str(self.truths[who]), self.described(who)
                self.wrong[who] = Wrong(who, since, wanted, shown, now - since, self.doing[who])

    def forgive(self) -> None:
        """Who was given up is looked at again once something else is so."""
        for who in [who for who, one in self.given_up.items() if self.truths[who] != one]:
            del self.given_up[who]

    def note_resumed(self) -> None:
        for who in [who for who in self.parked if self.shown(who) not in (observe.LIMITED, "")]:
            self.resumed = self.now()
            self.record.limits.append(Limit(who, self.parked.pop(who), self.resumed))

    def send_on(self) -> None:
        """It was ib's to wake them; that did not come, so we do."""
        for number, who in enumerate(self.parked):
            self.record.limits.append(Limit(who, self.parked[who], None))
            self.world.keys(self.session(who), "Enter")
            self.send(who, f"m{int(self.now())}x{9000 + number}")
        self.parked.clear()
        self.resumed = self.now()

    def described(self, who: str) -> str:
        state, reason = observe.states(snapshot.path_of(self.world.place)).get(who, ("nothing", ""))
        return f"{state} ({reason})" if reason else state

    def expected(self, who: str) -> str:
        return f"{who} ({self.doing[who]}) is {self.truths[who]}, shown as {self.described(who)}"

    def differing(self) -> list[str]:
        """Whose published state is not what is so."""
        states = observe.states(snapshot.path_of(self.world.place))
        return [who for who, one in self.truths.items() if not one.fits(*states.get(who, ("", "")))]

    def unheard(self) -> list[str]:
        """Marks on their way to somebody who can hear."""
        for ears in self.readers():
            ears.listen()
        on_its_way = [one for one in self.sent.values() if one.mark not in self.doubted and not self.heard(one)]
        return [one.mark for one in on_its_way if self.hears(one.reader)]

    def unread(self) -> list[str]:
        """Who is about to be woken by what others told it: a nudge, a letter on one of its agents."""
        return [who for who in self.truths if self.hears(who) and inbox.unread(self.world.place, who).ids]

    def in_a_turn(self) -> bool:
        """Somebody who will be done in a moment."""
        now = self.world.clock.now()
        for who in [who for who, one in self.truths.items() if one.state != observe.RUNNING]:
            known = hook_state.read(hook_state.path_of(self.world.place, who, ""))
            if known.state in (observe.RUNNING, observe.COMPACTING) and now - known.at < FRESH:
                return True
        return False

    def hears(self, who: str) -> bool:
        return who == PRIMARY or (self.truths[who].hears and who not in self.given_up)

    def heard(self, one: Sent) -> int:
        ears = self.ears.get(one.reader)
        return ears.heard[one.mark] if ears is not None else 0

    def readers(self) -> Iterator[Ears]:
        for who in (PRIMARY, *self.truths):
            if who not in self.ears:
                path = self.transcript_of(who)
                if not path:
                    continue
                self.ears[who] = Ears(path)
            yield self.ears[who]

    def transcript_of(self, who: str) -> str:
        if who != PRIMARY:
            return transcript.path_of(self.world.place, who)
        path = transcript.folder(self.world.env["CLAUDE_CONFIG_DIR"], self.world.root) + f"/{SESSION}.jsonl"
        return path if os.path.exists(path) else ""

    def shown(self, who: str) -> str:
        return observe.states(snapshot.path_of(self.world.place)).get(who, ("", ""))[0]

    def waits(self, there: Callable[[], bool], seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not there():
            if time.monotonic() > deadline:
                return False
            time.sleep(LOOK)
        return True

    def send(self, who: str, mark: str) -> None:
        self.note(mark, who)
        self.command("send", who, f"Do this now: {mark}")

    def note(self, mark: str, reader: str) -> None:
        self.sent[mark] = Sent(mark, reader, self.now())

    def command(self, *words: str) -> None:
        done = self.world.tried("ib", *words, primary=True)
        if done.code:
            self.record.failures.append(f"ib {' '.join(words)}: {(done.err or done.out).strip()}")

    def session(self, who: str) -> str:
        return str(agent_meta.read(self.world.place, who).get("tmux_session", ""))


def is_early() -> bool:
    return time.time() % 1.0 < EARLY
