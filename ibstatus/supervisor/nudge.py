"""Telling a silent agent that nobody knows how it is."""

import time
from collections.abc import Callable, Sequence

from ibstatus.claude import attention
from ibstatus.errors import IbError
from ibstatus.mail import inbox
from ibstatus.model.fleet import Agent
from ibstatus.project import operations, paths
from ibstatus.state.rules import nudges
from ibstatus.state.rules.notices import SYSTEM
from ibstatus.supervisor.background import Errands
from ibstatus.supervisor.notices import WRITER, Noticing

Voice = tuple[float, float]

HOLD = 30.0  # before the next try, where a person is there or mail waits


class Nudging:
    def __init__(self, place: paths.Place, noticing: Noticing, errands: Errands) -> None:
        self.place = place
        self.noticing = noticing
        self.errands = errands
        self.held: dict[str, float] = {}
        self.last: dict[str, float] = {}  # a nudge's own turn may come and go between two looks
        self.voices: dict[str, Voice] = {}  # since when it rests, and when its hooks had spoken last then
        self.mono = 0.0
        self.agents: dict[str, Agent] = {}

    def collect(self, agents: Sequence[Agent]) -> None:
        """What errands have brought, by what is known now."""
        self.agents = {agent.id: agent for agent in agents}
        self.errands.collect()

    def look(self, agents: Sequence[Agent], mono: float) -> float | None:
        """When the next may be due."""
        self.mono = mono
        self.voices = {name: voice for name, voice in self.voices.items() if name in self.noticing.rests}
        times = []
        for agent in agents:
            episode = self.noticing.record.agents.get(agent.id)
            left = nudges.wait(agent, episode, self.quiet(agent.id, mono)) if episode is not None else None
            if left is None:
                self.held.pop(agent.id, None)
                continue
            self.hear(agent.id)
            at = max(mono + left, self.held.get(agent.id, 0.0))
            if at <= mono:
                at = self.held[agent.id] = mono + HOLD
                self.nudge(agent.id)
            times.append(at)
        return min(times, default=None)

    def hear(self, name: str) -> None:
        if self.voices.get(name, (None,))[0] != self.rests_since(name):
            self.voices[name] = self.voice(name)

    def voice(self, name: str) -> Voice:
        """Another one once it was told something, or rests anew: it is about to work on that, or has, whatever it was
        seen as."""
        return self.rests_since(name), inbox.told_at(self.place, name)

    def rests_since(self, name: str) -> float:
        return self.noticing.rests.get(name, (None, 0.0))[1]

    def quiet(self, name: str, mono: float) -> float:
        return min(self.noticing.rested(name, mono), mono - self.last.get(name, float("-inf")))

    def nudge(self, name: str) -> None:
        voice = self.voices.get(name)

        def errand() -> Callable[[], None] | None:
            if inbox.unread(self.place, name).ids or attention.is_attended(self.place, name):
                return None
            return lambda: self.put(name, voice)

        self.errands.add("nudge " + name, errand)

    def put(self, name: str, voice: Voice | None) -> None:
        """In the loop: counted first, so that a kill costs a nudge and never doubles one. `voice`: in whose silence it
        was due; the errands before it may have taken long."""
        known, agent = self.noticing.record.agents.get(name), self.agents.get(name)
        if known is None or agent is None or not nudges.is_silent(agent, known):
            return
        if operations.is_at_work(self.place, name):
            return
        now = time.time()
        self.last[name] = self.mono
        if inbox.unread(self.place, name).ids or self.voice(name) != voice:
            self.voices.pop(name, None)  # its silence begins anew
            return
        self.noticing.change(name, nudges=known.nudges + 1, nudged=now)
        try:
            self.noticing.save()
            inbox.put(self.place, WRITER, name, SYSTEM, True, nudges.LETTER, now)
        except (OSError, IbError):
            self.noticing.change(name, nudges=known.nudges, nudged=known.nudged)  # a full disk is no nudge
            raise
        self.noticing.mailed = True
