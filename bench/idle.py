"""What a waiting listener and a session's waiter cost while nothing happens."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from bench.ground import Row, repository
from bench.inject import hook
from bench.wake import listener
from ibstatus.project import paths

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


def waiter(place: paths.Place) -> "subprocess.Popen[bytes]":
    """As the client starts it at a turn's end; we are the client that it watches."""
    env = {**os.environ, "CLAUDE_PROJECT_DIR": place.root, "CLAUDE_CODE_ENTRYPOINT": "cli"}
    process = subprocess.Popen(hook("wait-for-news", str(os.getpid())), env=env, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b'{"session_id": "s2", "hook_event_name": "Stop"}')
    process.stdin.close()
    return process


def measure(seconds: int = SECONDS) -> list[Row]:
    """In one run: a bare loop that looks once a second, a listener of a person, one of a session, a waiter."""
    if not os.path.exists("/proc/self/schedstat"):
        return [Row("an idle listener", "not measured: needs Linux", "≤ 0.01 % CPU", False)]
    with repository() as place:
        started = [subprocess.Popen([sys.executable, "-c", FLOOR], cwd=place.root), listener(place)]
        person = int(os.listdir(place.bells)[0])  # a bell is called after its waiter
        started.append(listener(place, "s1"))
        (session,) = (int(bell) for bell in os.listdir(place.bells) if int(bell) != person)
        started.append(waiter(place))
        pids = [started[0].pid, person, session, started[-1].pid]
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
    named = ("an idle listener of a person", "an idle listener of a session", "the Stop waiter of an idle session")
    for who, share, often in zip(named, shares[1:], wakes[1:], strict=True):
        figure = f"{share:.4f} %, {share / shares[0]:.1f} × a bare look a second; {often:.2f} wake-ups a second"
        rows.append(Row(who, figure, "≤ 0.01 %, ≤ 1 a second", share <= 0.01 and often <= 1.05))
    return rows
