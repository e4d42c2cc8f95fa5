"""What a waiting listener costs while nothing happens."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from bench.ground import Row, repository
from bench.wake import listener

SECONDS = 40


def used(pid: int) -> tuple[float, int]:
    """(seconds of processor, voluntary switches) of a process so far."""
    status = Path(f"/proc/{pid}/status").read_text()
    switches = int(status.split("voluntary_ctxt_switches:")[1].split()[0])
    running = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    return running / 1e9, switches


FLOOR = """
import os, select
poll = select.poll()
poll.register(os.pipe()[0], select.POLLIN)
while True:
    poll.poll(1000)
    os.stat(".")
"""


def measure(seconds: int = SECONDS) -> list[Row]:
    """Side by side in one run: a bare loop that looks once a second, a listener of a person, one of a session."""
    if not os.path.exists("/proc/self/schedstat"):
        return [Row("an idle listener", "not measured: needs Linux", "≤ 0.01 % CPU", False)]
    with repository() as place:
        started = [subprocess.Popen([sys.executable, "-c", FLOOR], cwd=place.root), listener(place)]
        person = int(os.listdir(place.bells)[0])  # a bell is called after its waiter
        started.append(listener(place, "s1"))
        (session,) = (int(bell) for bell in os.listdir(place.bells) if int(bell) != person)
        pids = [started[0].pid, person, session]
        try:
            time.sleep(2)
            before = [used(pid) for pid in pids]
            time.sleep(seconds)
            after = [used(pid) for pid in pids]
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            for process in started:
                process.wait()
    shares = [(late[0] - early[0]) / seconds * 100 for early, late in zip(before, after, strict=True)]
    wakes = [(late[1] - early[1]) / seconds for early, late in zip(before, after, strict=True)]
    rows = []
    for who, share, often in (("a person", shares[1], wakes[1]), ("a session", shares[2], wakes[2])):
        figure = f"{share:.4f} %, {share / shares[0]:.1f} × a bare look a second; {often:.2f} wake-ups a second"
        rows.append(
            Row(f"an idle listener of {who}", figure, "≤ 0.01 %, ≤ 1 a second", share <= 0.01 and often <= 1.05)
        )
    return rows
