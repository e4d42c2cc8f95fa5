"""Telling the primary and managers what became of agents: noted first, then written, then done; never twice."""

import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ibstatus.errors import IbError, logged
from ibstatus.mail import inbox, queue, queue_lines
from ibstatus.mail import post as queued
from ibstatus.model.fleet import Agent
from ibstatus.project import agent_meta, config, ids, logs, operations, paths
from ibstatus.project import agents as agents_there
from ibstatus.state import episode_file as files
from ibstatus.state.rules import episodes, fleet, limits, notices
from ibstatus.state.rules.notices import Notice
from ibstatus.supervisor.log import Log
from ibstatus.system.git import diff
from ibstatus.system.text import times

WRITER = "supervisor"
TAIL = 1 << 16
COUNTING = 0.05  # seconds that one look may spend on git
RETRY = 5.0
HELD = 10.0  # while a notice waits for something that others will do


class Asked(Container[Any]):
    """Looked up only where it decides."""

    def __init__(self, holds: Callable[[Any], bool]) -> None:
        self.holds = holds

    def __contains__(self, item: object) -> bool:
        return self.holds(item)


class Spoken:
    """(agent, kind): has it told the primary so itself, since it was last at work?"""

    def __init__(self, place: paths.Place, known: Mapping[str, episodes.Episode]) -> None:
        self.place = place
        self.known = known
        self.said: set[tuple[str, str]] | None = None

    def __call__(self, item: tuple[str, str]) -> bool:
        if self.said is None:
            self.said = set(self.read())
        return item in self.said

    def read(self) -> Iterator[tuple[str, str]]:
        seen = queue.view(self.place)
        try:
            at, data = seen.read(max(seen.base, seen.end - TAIL), seen.end)
        finally:
            seen.close()
        for line in queue_lines.told(data, at, 0).values:
            known = self.known.get(line["from"])
            own = line["id"].startswith(("msg-", "q-")) and line.get("verified") is not False
            if known is not None and known.ran and own and (times.epoch(line["ts"]) or 0.0) >= int(known.ran):
                yield line["from"], line["type"]


class Noticing:
    """Owns the record of episodes; the others change it through `record`."""

    def __init__(self, place: paths.Place, log: Log) -> None:
        self.place = place
        self.log = log
        known = files.read(place)
        self.first = True
        self.new = known is None
        self.record = known or files.Record()
        self.written = self.record
        self.rests: dict[str, tuple[object, float]] = {}
        self.owed = dict(self.record.pending)  # of one before us: perhaps they stand written already
        self.asked: dict[str, float] = {}  # letters that were unread when their reader's hooks had spoken last
        self.mailed = self.fresh = self.soon = False

    def look(self, agents: Sequence[Agent], mono: float, wall: float) -> None:
        before = None if self.new and self.first else self.record.agents
        now = episodes.seen(agents, before, wall, self.first)
        self.first = False
        if now != self.record.agents:
            self.record = replace(self.record, agents=now)
        self.rest(agents, mono)
        late = self.see_to_letters(agents, mono)
        self.settle_owed(wall)
        found, settled = notices.due(self.view(agents, mono, wall))
        self.soon = self.soon or late
        for name in settled:
            self.change(name, told=True)
        if found:
            self.tell(found, wall)
        self.save()

    def rest(self, agents: Sequence[Agent], mono: float) -> None:
        """Since when each is seen as it is."""
        rests = {}
        for agent in agents:
            key = (agent.state, agent.reason, agent.since)
            known = self.rests.get(agent.id)
            rests[agent.id] = known if known is not None and known[0] == key else (key, mono)
        self.rests = rests

    def rested(self, agent: str, mono: float) -> float:
        known = self.rests.get(agent)
        return mono - known[1] if known is not None else 0.0

    def view(self, agents: Sequence[Agent], mono: float, wall: float) -> notices.View:
        now = self.record.agents
        fresh = [agent for agent in agents if notices.is_news(now.get(agent.id), agent)]
        rests = {agent.id: self.rested(agent.id, mono) for agent in fresh}
        self.fresh, self.soon = bool(fresh), any(notices.is_early(agent, rests[agent.id]) for agent in fresh)
        if not fresh:
            return notices.View([], {})
        mail = Asked(lambda name: self.sure(str(name), lambda: bool(inbox.unread(self.place, str(name)).ids), False))
        hears = Asked(lambda name: self.sure(str(name), lambda: self.hears(str(name), wall), False))
        return notices.View(agents, now, mail, Asked(Spoken(self.place, now)), rests, Asked(self.is_ending), hears)

    def hears(self, agent: str, wall: float) -> bool:
        """Was it told something a moment ago? Then it is about to work on that, whatever it is seen as."""
        return 0 <= wall - inbox.told_at(self.place, agent) < HELD and inbox.is_being_told(self.place, agent)

    def sure(self, agent: str, asks: Callable[[], bool], else_: bool) -> bool:
        """One whose mail cannot be read keeps nobody else's news."""
        try:
            found = asks()
        except OSError as error:
            self.log.complain("letters of " + agent, f"the mail of {agent} cannot be read: {logged(error)}")
            return else_
        self.log.complain("letters of " + agent, "")
        return found

    def is_ending(self, agent: str) -> bool:
        """Its session is over because a command of ours is removing it, or just has."""
        return operations.is_at_work(self.place, agent) or not agents_there.exists(self.place, agent)

    def see_to_letters(self, agents: Sequence[Agent], mono: float) -> bool:
        """A letter that its reader will not read is told to the next one. True: one may be over in a moment."""
        by_id, late = {agent.id: agent for agent in agents}, False
        for agent in agents:
            episode = self.record.agents.get(agent.id)
            if episode is None or not episode.to or episode.id in self.owed:
                continue
            reader = by_id.get(episode.to)
            here = agent.manager == episode.to and reader is not None
            over = reader is not None and fleet.is_over(reader)
            if not self.is_unread(episode):
                self.change(agent.id, to="")
            elif not here or (over and self.rested(episode.to, mono) >= notices.PATIENCE):
                self.change(agent.id, to="", told=False)
            late = late or (here and over)
        return late

    def is_unread(self, episode: episodes.Episode) -> bool:
        """Asked again when its reader's hooks have spoken since. One that was removed has not read it."""
        at = inbox.told_at(self.place, episode.to)
        if self.asked.get(episode.id) == at or not agents_there.exists(self.place, episode.to):
            return True
        if not self.sure(episode.to, lambda: episode.id in inbox.unread(self.place, episode.to).ids, True):
            self.asked.pop(episode.id, None)
            return False
        self.asked[episode.id] = at
        return True

    def change(self, agent: str, **new: object) -> None:
        known = self.record.agents.get(agent)
        if known is not None:
            self.record = replace(self.record, agents={**self.record.agents, agent: replace(known, **new)})

    def tell(self, found: Sequence[Notice], wall: float, park: limits.Park | None = None) -> None:
        """What fails before all have their ids has changed nothing; from then on they are owed."""
        most = int(config.value(self.place, "notify.perHour"))
        budget = time.monotonic() + COUNTING
        times = notices.recent(self.record.told_at, wall)
        new: dict[str, dict[str, str]] = {}
        for notice in found:
            text = notice.text
            if notice.work and time.monotonic() < budget:
                text = notices.with_work(text, self.commits(notice.work), notice.work)
            item = ids.take(self.place, "in" if notice.to else "n", notice.agent, wall)
            new[item] = {"agent": notice.agent, "to": notice.to, "kind": notice.kind, "text": text}
            new[item]["about"] = ",".join(notice.about)
            if notices.is_quiet(notice, times, most):
                new[item]["quiet"] = "yes"
            elif notices.is_counted(notice):
                times = [*times, wall]
        also = {notice.agent for notice in found if not notice.about}  # whose news the primary has too
        for notice, item in zip(found, new, strict=True):
            for name in notice.about:
                warned = {"warned": list(notice.warned)} if notice.warned else {}
                to = "" if notice.to == name or name in also else notice.to
                self.change(name, told=True, id=item, to=to, **warned)
        park = park if park is not None else self.record.park
        self.record = replace(self.record, pending={**self.record.pending, **new}, told_at=times, park=park)
        self.owed |= new
        self.save(durable=True)
        for item in new:
            self.deliver(item, wall)

    def commits(self, agent: str) -> int:
        known = agent_meta.read(self.place, agent)
        base = known.get("base_commit")
        return diff.since(self.place.git_folder, base, f"agent/{agent}") if isinstance(base, str) else 0

    def settle_owed(self, wall: float) -> None:
        """What a supervisor before us has noted, and what could not be written: looked for, then written."""
        if self.owed:
            self.save(durable=True)  # an id that nobody has noted must not be used
        for item in list(self.owed):
            known = self.record.pending.get(item)
            if known is None or self.is_there(item, known):
                self.is_done(item)
            else:
                self.deliver(item, wall)

    def is_there(self, item: str, known: Mapping[str, str]) -> bool:
        if known["to"]:
            return bool(inbox.held(self.place, known["to"], item))
        return queue.holds(self.place, item)

    def deliver(self, item: str, wall: float) -> None:
        known = self.record.pending[item]
        try:
            self.put(item, known, wall)
        except FileNotFoundError:  # its reader was removed at this moment: somebody else is to hear it
            for name in known["about"].split(","):
                self.change(name, told=False)
            self.is_done(item)
        except (OSError, IbError) as error:
            self.owed[item] = dict(known)
            self.log.complain("notices", f"a notice could not be written: {error}")
        else:
            self.log.complain("notices", "")
            self.is_done(item)
            logs.note(self.place, WRITER, wall, {"kind": "notice.sent", "who": known["agent"], "id": item})

    def put(self, item: str, known: Mapping[str, str], wall: float) -> None:
        agent, text = known["agent"], known["text"]
        if known["to"]:
            inbox.put(self.place, WRITER, known["to"], agent, True, text, wall, item)
            self.mailed = True
        else:
            queued.post(self.place, WRITER, item, known["kind"], agent, True, text, wall, "quiet" in known)

    def is_done(self, item: str) -> None:
        self.owed.pop(item, None)
        pending = {key: value for key, value in self.record.pending.items() if key != item}
        self.record = replace(self.record, pending=pending)

    def save(self, *, durable: bool = False) -> None:
        """Only what has changed."""
        if self.record != self.written:
            files.write(self.place, self.record, durable=durable)
            self.written = self.record

    def again(self, mono: float) -> float | None:
        if self.mailed:
            self.mailed = False
            return mono
        if self.owed:
            return mono + RETRY
        if self.soon:
            return mono + notices.PATIENCE
        return mono + HELD if self.fresh else None
