"""Starting the supervisor: many at once start exactly one, and a killed one is back with the next command."""

import os
import signal
import subprocess
import time
from pathlib import Path

import psutil

from bench import ground
from ibstatus.project import paths, supervisor_process

ROUNDS = 500
HOOKS, SHELLS = 4, 2
KILLS = 5
PATIENCE = 30.0


def measure(rounds: int = ROUNDS, kills: int = KILLS) -> list[ground.Row]:
    with ground.repository(watched=False) as place:
        agent = Path(place.agent_dir("lead"))
        agent.mkdir(parents=True)
        (agent / "meta.json").write_text('{"id": "lead"}')
        try:
            wrong = sum(not one(place) for _ in range(rounds))
            slowest = max((back(place) for _ in range(kills)), default=0.0)
        finally:
            end(place)
    return [
        ground.Row(
            f"{HOOKS} hooks and {SHELLS} shells start the supervisor at once, {rounds} rounds",
            f"{rounds - wrong} of {rounds} times exactly one",
            "always one",
            not wrong,
        ),
        ground.Row(
            f"killed (-9) and {TYPED} typed again and again: until it is back, slowest of {kills}",
            f"{slowest:.1f} s",
            "≤ 5 s",
            slowest <= 5.0,
        ),
    ]


TYPED = "`ib list`"


def one(place: paths.Place) -> bool:
    """One round from nothing: did exactly one come up, and stay one?"""
    end(place)
    forget_tries(place)
    log = Path(supervisor_process.log_of(place))
    before = started(log)
    gate, go = os.pipe()
    children = [forked(place, gate) for _ in range(HOOKS)]
    shells = [subprocess.Popen(ground.ib("list"), cwd=place.root, stdout=subprocess.DEVNULL) for _ in range(SHELLS)]
    os.write(go, b"!" * HOOKS)
    for child in children:
        os.waitpid(child, 0)
    for shell in shells:
        shell.wait()
    os.close(gate)
    os.close(go)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and not (len(alive(place)) == 1 and started(log) > before):
        time.sleep(0.01)
    return supervisor_process.is_running(place) and len(alive(place)) == 1 and started(log) == before + 1


def forked(place: paths.Place, gate: int) -> int:
    """What a hook does, at the moment when the gate opens."""
    child = os.fork()
    if child == 0:
        os.read(gate, 1)
        supervisor_process.ensure(place)
        os._exit(0)
    return child


def started(log: Path) -> int:
    return log.read_text().count(" started, ") if log.exists() else 0


def alive(place: paths.Place) -> list[psutil.Process]:
    """Supervisors; not what one of them is about to run, which has its command line until then."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            if "status-watchdog" in words and place.root in words and process.status() != psutil.STATUS_ZOMBIE:
                found.append((process, process.ppid()))
        except psutil.Error:
            continue
    pids = {process.pid for process, _ in found}
    return [process for process, parent in found if parent not in pids]


def end(place: paths.Place) -> None:
    for process in alive(place):
        process.kill()
    while supervisor_process.is_running(place) or alive(place):
        time.sleep(0.005)


def forget_tries(place: paths.Place) -> None:
    path = Path(place.lock(supervisor_process.START))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"")


def back(place: paths.Place) -> float:
    """Seconds from the kill until a supervisor is there again, while a person types commands."""
    process = supervisor_process.holder(place)
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    begin = time.monotonic()
    while time.monotonic() - begin < PATIENCE:
        subprocess.run(ground.ib("list"), cwd=place.root, stdout=subprocess.DEVNULL, check=True)
        if supervisor_process.is_running(place) and supervisor_process.holder(place) is not None:
            break
        time.sleep(0.1)
    return time.monotonic() - begin
