"""The supervisor's tick with 300 agents: nothing changed, ten changed, ten thousand times."""

import os
import shutil
import subprocess
import time
import tracemalloc

from bench.ground import Row, repository
from bench.scan import clock, scanner_of, seconds, terminals
from ibstatus.drivers.tmux_control import Connection
from ibstatus.supervisor.scanning import LIST

AGENTS, CHANGED, ROUNDS, TICKS = 300, 10, 200, 10_000
BAR_MICRO, BAR_SHARE, BAR_GROWN = 6.0, 1.0, 64.0


def measure(count: int = AGENTS, ticks: int = TICKS) -> list[Row]:
    if shutil.which("tmux") is None:
        return [Row("the tick", "not measured: tmux is not installed", "", False)]
    with repository() as place, terminals(count) as targets:
        scanner = scanner_of(place, [one._replace(is_busy=False) for one in targets], "unknown")
        scanner.tick(clock())
        time.sleep(1.2)  # tmux counts whole seconds
        scanner.tick(clock())
        bare = Connection("ib", "bare")
        ours, theirs = [], []
        for _ in range(ROUNDS):
            theirs.append(seconds(lambda: bare.ask([LIST])))
            ours.append(seconds(lambda: scanner.tick(clock())))
        bare.close()
        cpu = time.process_time()
        for _ in range(ROUNDS):
            scanner.tick(clock())
        share = (time.process_time() - cpu) / ROUNDS * 100
        extra = (min(ours) - min(theirs)) / count * 1e6
        what = f"tick, {count} agents, nothing changed, beyond tmux's answer"
        rows = [Row(what, f"{extra:.2f} µs an agent", f"≤ {BAR_MICRO:g} µs", extra <= BAR_MICRO)]
        rows.append(Row("the same, a tick a second", f"{share:.2f} % of a core", "≤ 1 %", share <= BAR_SHARE))

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
