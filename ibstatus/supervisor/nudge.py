"""Telling a silent agent that nobody knows how it is.

An idle agent whose context is too full gets /compact, once until it has become smaller.
"""

import time
from collections.abc import Callable, Sequence

from ibstatus.claude import client, sessions, transcript_text
from ibstatus.errors import IbError
from ibstatus.mail import inbox
from ibstatus.model.fleet import Agent
from ibstatus.project import agent_meta, config, operations, paths
from ibstatus.state.rules import notices
from ibstatus.state.rules.episodes import INPUT, kind_of
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
            left = notices.wait(agent, episode, self.quiet(agent.id, mono)) if episode is not None else None
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
            if inbox.unread(self.place, name).ids or sessions.is_attended(self.place, name):
                return None
            return lambda: self.put(name, voice)

        self.errands.add("nudge " + name, errand)

    def put(self, name: str, voice: Voice | None) -> None:
        """In the loop: counted first, so that a kill costs a nudge and never doubles one. `voice`: in whose silence it
        was due; the errands before it may have taken long."""
        known, agent = self.noticing.record.agents.get(name), self.agents.get(name)
        if known is None or agent is None or not notices.is_silent(agent, known):
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
            inbox.put(self.place, WRITER, name, SYSTEM, True, notices.LETTER, now)
        except (OSError, IbError):
            self.noticing.change(name, nudges=known.nudges, nudged=known.nudged)  # a full disk is no nudge
            raise
        self.noticing.mailed = True


KINDS = (INPUT, "complete")
NEVER = 101
PAUSE, TRIES = 60.0, 10
SETTLED = 1.0  # what its turn's end brings comes first


class Compacting:
    """`checked`: each rest of an agent is looked at once; one that could not be typed to is tried again."""

    def __init__(self, place: paths.Place, noticing: Noticing, errands: Errands) -> None:
        self.place = place
        self.noticing = noticing
        self.errands = errands
        self.checked: dict[str, tuple[float, int, float]] = {}
        self.resting: dict[str, float] = {}  # as of the last look: errands may have waited for others

    def look(self, agents: Sequence[Agent], mono: float) -> float | None:
        threshold = config.value(self.place, "autoCompactThreshold")
        self.resting = {}
        if threshold is None or threshold >= NEVER:
            return None
        times: list[float] = []
        self.resting = {agent.id: agent.since or 0.0 for agent in agents if kind_of(agent) in KINDS}
        for agent in agents:
            if agent.id not in self.resting:
                self.checked.pop(agent.id, None)
                continue
            at = self.due(agent, mono)
            if at is not None and at <= mono:
                self.check(agent, float(threshold), mono)
            elif at is not None:
                times.append(at)
        return min(times, default=None)

    def due(self, agent: Agent, mono: float) -> float | None:
        since, tries, at = self.checked.get(agent.id, (-1.0, 0, 0.0))
        if since != (agent.since or 0.0):
            return mono - self.noticing.rested(agent.id, mono) + SETTLED
        return at if 0 < tries < TRIES else None

    def check(self, agent: Agent, threshold: float, mono: float) -> None:
        name, since = agent.id, agent.since or 0.0
        before = self.checked.get(name)
        tries = before[1] if before is not None and before[0] == since else 0
        known = self.noticing.record.agents.get(name)
        compacted = known is not None and known.compacted

        def errand() -> Callable[[], None] | None:
            if self.resting.get(name) != since:
                return None
            full = self.percent(name)
            if full is None or full < threshold or compacted:
                return lambda: self.settle(name, since, False if full is not None and full < threshold else None)
            if inbox.unread(self.place, name).ids:
                return None
            from ibstatus.mail import type_command  # it loads what types

            if type_command.compact(self.place, name) != "delivered":
                return None
            return lambda: self.settle(name, since, True)

        if self.errands.add("compact " + name, errand):
            self.checked[name] = (since, tries + 1, mono + PAUSE)

    def settle(self, name: str, since: float, compacted: bool | None) -> None:
        """This rest needs no other look; None: nothing new is known."""
        if self.checked.get(name, (since,))[0] == since:
            self.checked[name] = (since, 0, 0.0)
        if compacted is not None:
            self.noticing.change(name, compacted=compacted)
            self.noticing.save()

    def percent(self, name: str) -> float | None:
        known = agent_meta.read(self.place, name)
        path = client.of(known).transcript_of(self.place, name)
        return transcript_text.percent(tail(path), str(known.get("model") or "")) if path else None


def tail(path: str) -> bytes:
    """Whole lines from the end of a file that grows."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - transcript_text.TAIL))
        data = file.read(transcript_text.TAIL)
    whole = data[: data.rfind(b"\n") + 1]
    return whole if size <= transcript_text.TAIL else whole[whole.find(b"\n") + 1 :]
