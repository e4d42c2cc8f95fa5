"""The supervisor's life: look, do what is due, wait for the next news. What is due is decided in rules/duties."""

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from types import FrameType

import ibstatus
from ibstatus.errors import IbError
from ibstatus.model.clock import Clock, has_slept
from ibstatus.model.fleet import Agent
from ibstatus.project import config, home, logs, paths, supervisor_process
from ibstatus.project.presence import Ground
from ibstatus.state import snapshot, snapshot_fresh
from ibstatus.supervisor import install_lock, schedule, tidy
from ibstatus.supervisor.care import Caring
from ibstatus.supervisor.log import Log
from ibstatus.supervisor.publish import Publisher
from ibstatus.supervisor.wake import Rousing
from ibstatus.supervisor.watch_files import Watching
from ibstatus.system import locks

TROUBLE_PAUSE = 5.0
LOOK_AGAIN = 1.0  # while something is held up by git or by another program
DISPLACED_AFTER = (0.02, 1.0)
TIDY_EVERY, LATELY = 5.0, 60.0
PROVEN_AFTER, PROOFS = (
    snapshot_fresh.TICK * 1.5,
    3,
)  # what we or others wrote during a look, or just before it, is looked at


class Supervisor:
    """One a repository: it holds the lock for as long as it lives."""

    def __init__(self, place: paths.Place, lock: locks.Lock, log: Log, clock: Callable[[], Clock]) -> None:
        self.place = place
        self.lock = lock
        self.log = log
        self.clock = clock
        self.publisher = Publisher(place, log)
        self.rousing = Rousing(place, log)
        self.caring = Caring(place, log)
        self.past = schedule.Past()
        self.package = install_lock.package_state()
        self.ground = Ground(place)
        self.tidied, self.missed = schedule.NEVER, set[str]()  # `missed`: who had gone without a word by then
        self.displaced: list[float] = []
        self.cleaned = schedule.NEVER
        self.up, self.ended = False, ""
        self.unproven = 0  # looks in a row after which nobody can know whether the snapshot is true

    def run(self) -> str:
        """Until nobody needs us any more, or we are told to go. Returns why."""
        watching = Watching(self.place)
        self.listen_to_signals(watching)
        try:
            while not self.ended:
                began = time.monotonic()
                wait = self.tried()
                watching.looked(time.monotonic() - began)
                self.log.complain("watching", watching.deaf)
                if not self.ended:
                    self.rest(watching, wait)
                    watching.follow()
        finally:
            watching.close()
            self.close()
        return self.ended

    def close(self) -> None:
        """Before the lock is given back: what is still being typed is noted, or the next of us would type it again."""
        self.publisher.scanner.close()
        self.caring.close()
        self.ground.close()

    def rest(self, watching: Watching, wait: float) -> None:
        """Until there is news or the next look is due; meanwhile the scan ticks, and what it sees is news, too."""
        if watching.follow():
            return  # a folder that came with the last look: what lies in it already is told by nobody
        until = self.clock().mono + wait
        scanner = self.publisher.scanner
        while not self.ended:
            now = self.clock()
            if watching.wait(min(until, scanner.again()) - now.mono):
                self.unproven = 0
                return
            if self.clock().mono >= until:
                return
            now = self.clock()
            if now.mono >= scanner.again() and (self.has_slept(now) or scanner.tick(now)):
                return

    def has_slept(self, now: Clock) -> bool:
        return self.past.clock is not None and has_slept(self.past.clock, now)

    def tried(self) -> float:
        """A round; one bad file must not end the supervisor, it is said and looked at again."""
        try:
            wait = self.look()
        except Exception as error:
            if not isinstance(error, OSError | IbError | ValueError):
                self.log.complain("bug", traceback.format_exc())
            self.log.complain("look", f"could not look: {error}")
            snapshot.distrust(self.place)
            return TROUBLE_PAUSE
        self.log.complain("look", "")
        if not self.up and self.lock.is_mine():
            self.up = True
            supervisor_process.came_up(self.place)
        return wait

    def listen_to_signals(self, watching: Watching) -> None:
        def go(number: int, frame: FrameType | None) -> None:
            self.ended = self.ended or signal.Signals(number).name
            threading.Thread(target=watching.wake).start()  # we may hold the very lock that waking takes

        for number in supervisor_process.ENDING:
            signal.signal(number, go)

    def look(self, *, at_once: bool = False) -> float:
        """One round; returns how long to wait for the next. `at_once`: the node is written without its pauses."""
        now, began = self.clock(), time.time_ns()
        self.ended = self.ended or self.reason_to_go()
        if self.ended:
            return 0.0
        seen, wanted, past = self.publisher.look(self.past, now)
        wanted = wanted._replace(needed=wanted.needed or self.caring.boarding.keeps)
        due, self.past = schedule.due(wanted, past, now)
        if due.publish or not snapshot.is_there(self.place):
            self.publisher.publish(seen, now)
            self.past = schedule.done_publishing(self.past, wanted)
        if (due.write or (at_once and wanted.node != self.past.shown)) and self.publisher.write_node(seen, now):
            self.past = schedule.done_writing(self.past, wanted, now)
            self.displaced = sorted([*self.displaced, *(self.clock().mono + after for after in DISPLACED_AFTER)])
        self.tidy(now)
        self.rousing.look(seen.agents, now.mono)
        self.care(seen.agents, now._replace(wall=self.clock().wall), due.slept)  # no notice is older than what it tells
        snapshot.touch(self.place, began)
        self.unproven = self.unproven + 1 if snapshot_fresh.is_behind(self.place, began / 1e9, time.time()) else 0
        if due.leave:
            self.ended = "nobody needs it"
        return self.pause(due, now)

    def care(self, agents: Sequence[Agent], now: Clock, slept: bool) -> None:
        """One agent that it cannot care for must not keep the rest from being published."""
        try:
            self.caring.look(agents, now, slept=slept)
        except Exception:
            self.log.complain("caring", traceback.format_exc())
        else:
            self.log.complain("caring", "")

    def pause(self, due: schedule.Due, now: Clock) -> float:
        interval = float(config.value(self.place, "status_node.update_interval"))
        held = [now.mono + LOOK_AGAIN] if self.publisher.held else []
        held += [self.tidied + TIDY_EVERY] if self.missed else []
        held += [self.tidied + LOOK_AGAIN] if self.is_cleaned(now) else []
        held += [self.clock().mono + PROVEN_AFTER] if 0 < self.unproven <= PROOFS else []
        asked = (due.again, self.rousing.again(now.mono), self.caring.again(now.mono))
        wanted = [at for at in asked if at is not None]
        times = [now.mono + interval, *held, *self.displaced[:1], *wanted]
        return max(0.0, min(times) - self.clock().mono)

    def tidy(self, now: Clock) -> None:
        gone = self.gone_without_a_word(now)
        if now.mono - self.tidied >= (LOOK_AGAIN if self.is_cleaned(now) else TIDY_EVERY) or gone - self.missed:
            self.tidied, self.missed = now.mono, gone
            said = tidy.tidy(self.place, list(self.publisher.before.values()), now.wall)
            self.log.complain("tidying", "; ".join(said))
            self.publisher.keeper.sync(now.wall)
        if self.displaced and now.mono >= self.displaced[0]:
            self.displaced = [at for at in self.displaced if at > now.mono]
            for text in tidy.look_at_displaced(self.place, now.wall):
                self.log.say(text)

    def gone_without_a_word(self, now: Clock) -> set[str]:
        """Lately; to say how it was is a part of tidying that others wait for."""
        known = self.publisher.before.values()
        gone = [agent for agent in known if agent.state == "stopped" and not agent.reason]
        return {agent.id for agent in gone if now.wall - (agent.since or 0.0) < LATELY}

    def reason_to_go(self) -> str:
        if not self.ground.is_there():
            return install_lock.GONE
        if install_lock.package_state() != self.package:
            return "its own package has changed"
        return "" if self.lock.is_mine() else self.come_back()

    def come_back(self) -> str:
        """`git clean` took our lock file: with a new one we go on, unless somebody else has it by now."""
        self.lock.release()
        if not self.ground.stays():
            return install_lock.GONE
        home.enter(self.place)
        if not self.lock.try_take():
            return "the folder was cleaned away, and another supervisor was faster"
        install_lock.sign(self.place, self.lock)
        self.past = self.past._replace(published=None)
        self.cleaned, self.tidied = self.clock().mono, schedule.NEVER
        return ""

    def is_cleaned(self, now: Clock) -> bool:
        """Just now: a `git clean` that goes on takes some of what was put back already."""
        return now.mono - self.cleaned < TIDY_EVERY


def supervise(place: paths.Place, clock: Callable[[], Clock] = install_lock.now) -> str:
    """Run the supervisor here, to its end. '' when another one runs already; otherwise why it ended."""
    home.enter(place)
    lock = locks.Lock(place.lock(supervisor_process.LOCK))
    if not install_lock.taken(lock):
        return ""
    log = Log(supervisor_process.log_of(place))
    try:
        install_lock.sign(place, lock)
        log.say(f"Supervisor of {place.root} started, ib {ibstatus.__version__}, pid {os.getpid()}")
        logs.note(place, tidy.WRITER, time.time(), {"kind": "supervisor.started", "who": "supervisor"})
        recover(place, log)
        why = Supervisor(place, lock, log, clock).run()
        log.say(f"Supervisor stopped: {why}")
        if why != install_lock.GONE:
            logs.note(place, tidy.WRITER, time.time(), {"kind": "supervisor.stopped", "who": "supervisor", "why": why})
        return why
    finally:
        install_lock.unsign(place)
        lock.release()


def recover(place: paths.Place, log: Log) -> None:
    try:
        for text in tidy.recover(place):
            log.say(text)
    except (OSError, IbError) as error:
        log.say(f"What was left half done could not be completed: {error}")


def once(place: paths.Place) -> str | None:
    """One look, published; returns why the node could not be, or ''. None: a supervisor runs, and does it by itself."""
    home.enter(place)
    lock = locks.Lock(place.lock(supervisor_process.LOCK))
    if not install_lock.taken(lock):
        return None
    try:
        install_lock.sign(place, lock)
        log = Log(supervisor_process.log_of(place))
        recover(place, log)
        supervisor = Supervisor(place, lock, log, install_lock.now)
        try:
            supervisor.look(at_once=True)
        finally:
            supervisor.close()
        if supervisor.displaced:
            time.sleep(DISPLACED_AFTER[0])
            tidy.look_at_displaced(place, time.time())
        held = "git is at work, or another program has CLAUDE.md open" if supervisor.publisher.held else ""
        return supervisor.publisher.keeper.why or held
    finally:
        install_lock.unsign(place)
        lock.release()
