"""An idle agent whose context is too full gets /compact, once until it has become smaller."""

from collections.abc import Callable, Sequence

from ibstatus.claude import clients, usage
from ibstatus.mail import inbox
from ibstatus.model.fleet import Agent
from ibstatus.project import agent_meta, config, paths
from ibstatus.state.rules.episodes import INPUT, kind_of
from ibstatus.supervisor.background import Errands
from ibstatus.supervisor.notices import Noticing

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
        path = clients.of(known).transcript_of(self.place, name)
        return usage.percent(tail(path), str(known.get("model") or "")) if path else None


def tail(path: str) -> bytes:
    """Whole lines from the end of a file that grows."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - usage.TAIL))
        data = file.read(usage.TAIL)
    whole = data[: data.rfind(b"\n") + 1]
    return whole if size <= usage.TAIL else whole[whole.find(b"\n") + 1 :]
