"""Publishing what was seen: status.json for programs, the node in CLAUDE.md for the user's Claude."""

from collections.abc import Sequence

import msgspec

import ibstatus
from ibstatus.model.clock import Clock, has_slept
from ibstatus.node.node import NOTHING, Keeper
from ibstatus.project import agent_meta as files
from ibstatus.project import paths
from ibstatus.state import fleet, hook_history, look, snapshot, transcript_check
from ibstatus.state.rules import fleet as known
from ibstatus.state.rules.known import Sight
from ibstatus.state.rules.screen_history import has_stepped
from ibstatus.supervisor import schedule
from ibstatus.supervisor.log import Log
from ibstatus.supervisor.scan import Scanner
from ibstatus.system import jsonl


class Publisher:
    """Knows what was published last and what CLAUDE.md shows. `held`: the node waits for git or another program."""

    def __init__(self, place: paths.Place, log: Log) -> None:
        self.place = place
        self.log = log
        self.states = hook_history.States(place)
        self.keeper = Keeper(place)
        last = snapshot.read(place, ibstatus.__version__)
        self.seq = last[0].seq if last is not None else 0
        self.before = fleet.by_id(last[0].agents) if last is not None else {}
        self.held = False
        self.records = files.Records(place)
        self.scanner = Scanner(place, log)
        self.reading = transcript_check.Reading(place)

    def look(self, past: schedule.Past, now: Clock) -> tuple[fleet.Seen, schedule.Fleet, schedule.Past]:
        """Everything once; the same reduced to what decides; and the past with what CLAUDE.md shows at this moment."""
        records = self.records.read()
        sights = self.scan(records, now, past.clock is not None and is_new_time(past.clock, now))
        seen = fleet.look(self.place, self.states, self.before, now.wall, sights, records, self.reading)
        self.before = fleet.by_id(seen.agents)
        self.scanner.follow(self.before, now)
        broken = [f"{agent.id}: {agent.problem}" for agent in seen.agents if agent.problem]
        self.log.complain("agents", "; ".join(broken))
        shown = self.keeper.shown(now.wall)
        wanted = self.keeper.wanted(seen, now.wall)
        self.log.complain("node", self.keeper.why if wanted != NOTHING else "")
        if self.keeper.why:
            wanted = shown  # nothing can be done until the file changes
        needed = known.is_busy(seen.agents) or bool(seen.listening) or seen.waiting
        content = None if shown == NOTHING and wanted != NOTHING else shown.content  # what is gone comes back at once
        past = past._replace(shown=content, shown_questions=shown.questions, shown_ages=shown.ages)
        return seen, schedule.Fleet(key_of(seen), *wanted, needed), past

    def scan(self, records: Sequence[files.Record], now: Clock, slept: bool) -> dict[str, Sight]:
        """What the terminals show; asked again only where it is time, somebody is new, or the machine has slept."""
        self.scanner.aim(look.targets(self.place, records, self.states.told), self.before)
        if slept:
            self.scanner.forget()
        if slept or self.scanner.is_new() or now.mono >= self.scanner.again():
            self.scanner.tick(now)
        return self.scanner.confirmed()

    def publish(self, seen: fleet.Seen, now: Clock) -> None:
        self.seq += 1
        snapshot.write(self.place, fleet.snapshot_of(seen, self.seq, now.wall))

    def write_node(self, seen: fleet.Seen, now: Clock) -> bool:
        done = self.keeper.put(seen, now.wall)
        self.held = not done and not self.keeper.why
        return done


def is_new_time(before: Clock, now: Clock) -> bool:
    """The machine has slept, or its clock was set."""
    return has_slept(before, now) or has_stepped(before, now)


def key_of(seen: fleet.Seen) -> str:
    """Equal for two looks that show the same, whatever the time."""
    agents = [msgspec.structs.replace(agent, age="") for agent in seen.agents]
    return jsonl.encode([msgspec.to_builtins(agents), seen.messages, seen.questions, seen.listening])
