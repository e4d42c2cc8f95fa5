"""The supervisor's tick with 300 agents: nothing changed, ten changed, ten thousand times."""

import os
import shutil
import statistics
import subprocess
import time
import tracemalloc

from bench.ground import Row, repository
from bench.scan import clock, scanner_of, seconds, terminals
from ibstatus.model.clock import Clock
from ibstatus.project import paths
from ibstatus.state.look import Target
from ibstatus.supervisor.scan import LIST
from ibstatus.system.tmux.control_mode import Connection

AGENTS, CHANGED, ROUNDS, TICKS = 300, 10, 200, 10_000
BAR_MICRO, BAR_SHARE, BAR_GROWN = 6.0, 1.0, 64.0


def at_rest(targets: list[Target]) -> list[Target]:
    return [one._replace(is_busy=False) for one in targets]


def still(place: paths.Place, targets: list[Target], state: str) -> list[Row]:
    """Nothing changes on any screen, of agents that work or rest. A second is between two ticks, by the clock that they
    are given: in each of them some are due to have their processes asked for."""
    scanner, bare = scanner_of(place, targets, state), Connection("ib", "bare")
    scanner.tick(clock())
    time.sleep(1.2)
    ours, theirs, cpu = [], [], 0.0
    for second in range(ROUNDS):
        theirs.append(seconds(lambda: bare.ask([LIST])))
        now = Clock(*(at + second for at in clock()))
        began = time.process_time()
        ours.append(seconds(lambda now=now: scanner.tick(now)))
        cpu += time.process_time() - began
    bare.close()
    scanner.close()
    extra = (statistics.median(ours) - statistics.median(theirs)) / len(targets) * 1e6
    share = cpu / ROUNDS * 100
    how = "at work" if targets[0].is_busy else "at rest"
    what = f"tick, {len(targets)} agents {how}, nothing changed"
    return [
        Row(f"{what}, beyond tmux's answer", f"{extra:.2f} µs an agent", f"≤ {BAR_MICRO:g} µs", extra <= BAR_MICRO),
        Row(f"{what}, a tick a second", f"{share:.2f} % of a core", "≤ 1 %", share <= BAR_SHARE),
    ]


def measure(count: int = AGENTS, ticks: int = TICKS) -> list[Row]:
    if shutil.which("tmux") is None:
        return [Row("the tick", "not measured: tmux is not installed", "", False)]
    with repository() as place, terminals(count) as targets:
        rows = [*still(place, targets, "running"), *still(place, at_rest(targets), "unknown")]
        scanner = scanner_of(place, at_rest(targets), "unknown")
        scanner.tick(clock())
        time.sleep(1.2)  # tmux counts whole seconds
        scanner.tick(clock())

        before = scanner.captured
        keys = [word for n in range(CHANGED) for word in ("send-keys", "-t", f"=ittybitty-0-a{n}:", "x", ";")]
        subprocess.run(["tmux", "-f", os.devnull, "-L", "ib", *keys[:-1]], check=True)
        time.sleep(0.1)
        scanner.tick(clock())
        done = scanner.captured - before
        rows.append(Row(f"tick, {CHANGED} of {count} changed: captured", str(done), f"= {CHANGED}", done == CHANGED))
        time.sleep(1.2)
        scanner.tick(clock())

        tracemalloc.start()
        for _ in range(ticks // 10):
            scanner.tick(clock())
        held = tracemalloc.get_traced_memory()[0]
        for _ in range(ticks):
            scanner.tick(clock())
        grown = (tracemalloc.get_traced_memory()[0] - held) / 1024
        tracemalloc.stop()
        scanner.close()
        took = f"memory after {ticks} more ticks"
        rows.append(Row(took, f"{grown:+.1f} KiB", f"≤ {BAR_GROWN:g} KiB", grown <= BAR_GROWN))
    return rows
