"""From a hook's event to the changed snapshot, with a hundred agents and the supervisor as a process of its own."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from bench.ground import Row, percentile, repository
from bench.scan import terminals
from ibstatus.project import logs, paths

AGENTS, ROUNDS, BAR = 100, 60, 50.0


def state_of(place: paths.Place, agent: str) -> str:
    try:
        found = json.loads(Path(place.home, "status.json").read_bytes())
    except (OSError, ValueError):
        return ""
    return next((str(one["state"]) for one in found["agents"] if one["id"] == agent), "")


def queued(place: paths.Place) -> int:
    try:
        return os.stat(place.queue).st_size
    except OSError:
        return 0


def waited(holds: object, patience: float = 20.0) -> float:
    began = time.perf_counter()
    assert callable(holds)
    while not holds():
        if time.perf_counter() - began > patience:
            return float("inf")
        time.sleep(0.0005)
    return time.perf_counter() - began


def measure(count: int = AGENTS, rounds: int = ROUNDS) -> list[Row]:
    with repository(watched=False) as place, terminals(count, "exec cat") as targets:
        for target in targets:
            folder = Path(place.agent_dir(target.agent))
            folder.mkdir(parents=True)
            meta = {"id": target.agent, "created_epoch": 1_700_000_000, "tmux_session": target.session}
            (folder / "meta.json").write_text(json.dumps(meta))
            event = {"kind": "agent.state", "who": target.agent, "state": "running"}
            logs.note(place, target.agent, time.time(), event)
        argv = [sys.executable, "-m", "ibstatus", "status-watchdog"]
        supervisor = subprocess.Popen(argv, cwd=place.root, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            waited(lambda: state_of(place, "a0") == "running")
            time.sleep(3)
            shown, told = [], []
            for number in range(rounds):
                agent = targets[number % count].agent
                before = queued(place)
                began = time.perf_counter()
                event = {"kind": "agent.state", "who": agent, "state": "complete"}
                logs.note(place, agent, time.time(), event)
                waited(lambda agent=agent: state_of(place, agent) == "complete", 5.0)
                shown.append((time.perf_counter() - began) * 1000)
                waited(lambda before=before: queued(place) > before, 5.0)
                told.append((time.perf_counter() - began) * 1000)
                time.sleep(0.3)
        finally:
            supervisor.terminate()
            supervisor.wait()
    return [row("the changed snapshot", shown), row("the notice in the queue", told)]


def row(what: str, values: list[float]) -> Row:
    p50, p95 = percentile(values, 0.5), percentile(values, 0.95)
    figure = f"p50 {p50:.0f} ms, p95 {p95:.0f} ms"
    return Row(f"from a hook's event to {what}, {AGENTS} agents", figure, f"p95 ≤ {BAR:g} ms", p95 <= BAR)
