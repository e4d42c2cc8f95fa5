"""One simulation from its plan to its report."""

import os
import signal
from collections.abc import Callable, Sequence

from ibstatus.errors import IbError
from ibstatus.system.process import installed
from ibstatus.testkit.simulation import ending, plan, promises
from ibstatus.testkit.simulation.report import Judged, Report
from ibstatus.testkit.simulation.run import Conductor
from ibstatus.testkit.simulation.world import World

ROOM = 5


def rehearse(agents: int, hours: float, seed: int, say: Callable[[str], None], *, keep: bool = False) -> Report:
    for program in ("tmux", "git"):
        if not installed.path_of(program):
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
