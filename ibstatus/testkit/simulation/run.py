"""Leads a simulation through its plan: acts, waits until the world shows what is so, leaps to the next moment.

One simulation from its plan to its report.
"""

import os
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from ibstatus.errors import IbError
from ibstatus.mail import wake_state
from ibstatus.project import supervisor_process
from ibstatus.system.process import run
from ibstatus.testkit.simulation import observe, plan, promises, world
from ibstatus.testkit.simulation import world as ending
from ibstatus.testkit.simulation.plan import FATES, REMOVALS, Act, Moment
from ibstatus.testkit.simulation.promises import Judged, Report
from ibstatus.testkit.simulation.records import Record
from ibstatus.testkit.simulation.settle import LOOK, MINUTE, Settling
from ibstatus.testkit.simulation.world import PRIMARY, World, signalled

HANDS = 6  # acts side by side
BEFORE = 120.0  # simulated seconds from the reset of a limit to the moment at which it must be over
STARTS_WITHIN = 60.0
HELD = ("long", "retry", "escape")  # they draw all the time
WAKES = FATES.keys() - {"mail", "crash", "lost", *REMOVALS}


class Conductor(Settling):
    def run(self) -> Record:
        self.start()
        self.began = self.world.clock.now()
        for moment in self.plan.moments:
            self.prepare(moment)
            self.leap(self.began + moment.at)
            self.act(moment)
            self.tidy()
            self.settle()
            self.told(moment)
        self.finish()
        return self.record

    def start(self) -> None:
        for number, who in enumerate(self.plan.agents, 1):
            self.world.follows(who.name, "dialog trust" if who.distrusted else "")
            self.world.order(who.name, "wait")
            role = ["--manager", who.manager, "--worker"] if who.manager else []
            role += ["--yolo"] if who.yolo else []
            self.world.run("ib", "new-agent", "--name", who.name, *role, f"Task of {who.name}", primary=True)
            self.say(f"starting agents: {number} of {len(self.plan.agents)}")
        self.world.keys("primary", "Look after them", socket="sim")  # so that it is the one whom the user talks to
        self.world.keys("primary", "Enter", socket="sim")
        deadline = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < deadline and (self.differing() or not wake_state.primary(self.world.place)):
            time.sleep(LOOK)
        if wrong := self.differing():
            raise IbError(f"The agents did not come up: {', '.join(wrong)}", hint="ib sim --agents 2 --keep, and look")

    def prepare(self, moment: Moment) -> None:
        """What a limited agent does once somebody wakes it, which may be at the very leap."""
        for act in moment.acts:
            if act.ends and act.fate == "limit":
                self.world.order(act.who, "wait")

    def act(self, moment: Moment) -> None:
        if moment.supervisor_dies:
            self.kill_supervisor()
        for act in moment.acts:
            self.record.acts[named(act)] = self.record.acts.get(named(act), 0) + 1
        held = [act for act in moment.acts if act.ends and act.fate in HELD]
        with ThreadPoolExecutor(HANDS) as hands:
            list(hands.map(self.tried, [act for act in moment.acts if act not in held]))
            if held and time.time() // 1.0 == self.second:  # tmux must not show them as what was looked at already
                time.sleep(1.0 - time.time() % 1.0)
            list(hands.map(self.tried, held))

    def tried(self, act: Act) -> None:
        self.doing[act.who] = f"{named(act)} {act.number}"
        if act.ends:
            self.end(act)
        else:
            self.begin(act)
        self.truths[act.who] = observe.after(act, self.truths[act.who], self.idle[act.who], yolo=act.who in self.yolo)
        if self.truths[act.who].state == observe.STOPPED and self.is_dirty(act.who):
            self.truths[act.who] = observe.UNCOMMITTED
        if self.truths[act.who] in (observe.IDLE, observe.DONE):
            self.idle[act.who] = self.truths[act.who]

    def begin(self, act: Act) -> None:
        world, mark = self.world, f"m{act.number}x1"
        manager = self.managers[act.who]
        reset = (self.began + Moment(act.until, ()).at - BEFORE) // MINUTE * MINUTE
        if act.fate == "limit":
            self.resets[act.who] = reset
        world.order(act.who, *observe.orders(act, mark, manager, time.strftime("%I:%M%p", time.gmtime(reset)).lower()))
        if act.fate in ("tell", "ask"):
            self.note(mark, manager or PRIMARY)
        if act.fate in WAKES or act.fate == "mail":
            self.send(act.who, f"m{act.number}x2")
        if act.fate == "mail":
            self.send(act.who, f"m{act.number}x3")
        if act.fate == "crash":
            self.kill_client(act.who)
        if act.fate == "lost":
            world.tried("tmux", "-L", "ib", "kill-session", "-t", f"={self.session(act.who)}")
        if act.fate in REMOVALS:
            self.remove(act.who, act.fate)

    def remove(self, who: str, fate: str) -> None:
        """Merged where there is something to merge, and nothing that a merge would refuse."""
        work = self.world.tried("git", "rev-list", f"main..agent/{who}").out
        with self.merging:  # one of two that merge at once is told to try again
            self.command("merge" if fate == "merged" and work and not self.is_dirty(who) else "kill", who, "--force")
        self.record.orphans += world.orphans(self.world, [who])

    def is_dirty(self, who: str) -> bool:
        worktree = self.world.place.agent_dir(who) + "/repo"
        return self.world.tried("git", "-C", worktree, "status", "--porcelain").out != ""

    def end(self, act: Act) -> None:
        world = self.world
        if act.fate in ("long", "retry"):
            world.order(act.who, "wait")
            world.poke()
        if act.fate in observe.ASKING and act.who in self.yolo:
            world.keys(self.session(act.who), "Enter")
        if act.fate == "escape":
            world.keys(self.session(act.who), "Escape")
        if act.fate in ("crash", "lost"):
            self.command("resume", act.who)
        if act.fate in REMOVALS:
            with self.merging:
                self.command("undo", act.who, "--keep-merge")
            self.command("resume", act.who)
        if act.fate == "limit":
            self.parked[act.who] = self.resets[act.who] - self.began

    def kill_client(self, who: str) -> None:
        worktree = os.path.realpath(self.world.place.agent_dir(who) + "/repo")
        for pid, words in self.world.processes():
            if "ibstatus.testkit.fake_claude" in words and cwd_of(pid) == worktree:
                signalled(pid, 9)

    def kill_supervisor(self) -> None:
        holder = supervisor_process.holder(self.world.place)
        if holder is None:
            return
        began = self.now()
        signalled(holder.pid, 9)
        self.waits(lambda: not supervisor_process.is_running(self.world.place), 5.0)
        self.command("list")
        up = self.waits(lambda: supervisor_process.is_running(self.world.place), 10.0)
        self.record.outages.append(self.now() - began if up else float("inf"))

    def tidy(self) -> None:
        """The primary has read it all."""
        self.notices.read_queue()
        if os.path.exists(self.world.place.messages):
            self.command("acknowledge", "--all")

    def told(self, moment: Moment) -> None:
        hours, minutes = divmod(int(moment.at) // 60, 60)
        wrong = len([one for one in self.record.wrong if one.seconds > MINUTE])
        acts = sum(self.record.acts.values())
        late = "; waited for " + ", ".join(self.late) if self.late else ""
        self.say(f"{hours:02}:{minutes:02}  {acts} acts, {len(self.sent)} messages, {wrong} wrong states{late}")

    def finish(self) -> None:
        """Everybody is idle by now: what was not told yet is told."""
        self.doubted.clear()
        self.settle()
        for ears in self.readers():
            ears.listen()
        for one in self.sent.values():
            ears_of = self.ears.get(one.reader)
            count = (ears_of.heard[one.mark], ears_of.again[one.mark]) if ears_of is not None else (0, 0)
            self.record.sent.append(one._replace(heard=count[0], again=count[1]))
        happened = observe.history(self.world.place)
        self.notices.read_queue()
        self.notices.read_inboxes(self.truths)
        self.record.notices = self.notices.notices(happened, self.began)
        self.record.episodes = observe.episodes(happened, self.began)
        for who in self.truths:
            nudged = observe.nudges(self.world.place, who, happened, self.began)
            self.record.nudges += nudged.values()
            self.record.quiet += observe.quiet(happened, who, nudged, self.began)


def named(act: Act) -> str:
    return act.fate + (" ends" if act.ends else "")


def cwd_of(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


ROOM = 5


def rehearse(agents: int, hours: float, seed: int, say: Callable[[str], None], *, keep: bool = False) -> Report:
    for program in ("tmux", "git"):
        if not run.path_of(program):
            raise IbError(f"{program} is not installed, and a simulation is real", hint=f"install {program}")
    if not os.path.isdir("/proc"):
        raise IbError("A simulation looks for what is left in /proc, and this system has none", hint="ib demo")
    drawn = plan.drawn(agents, hours, seed)
    world = World(seed)
    try:
        world.found(agents + ROOM)
        conductor = Conductor(world, drawn, say)
        record = conductor.run()
        ending.judge(world, drawn, record)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not leave anything behind
        world.close(keep=keep)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    found = promises.judged(record)
    return Report(agents, hours, seed, dict(sorted(record.acts.items())), shown(found), world.folder if keep else "")


def shown(found: Sequence[promises.Promise]) -> list[Judged]:
    return [Judged(*one) for one in found]
