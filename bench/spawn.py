"""Starting agents: how soon `ib new-agent` returns, and ten at once with the stand-in for the client until all work."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import ground, hot
from ibstatus.project import paths

ROUNDS = 15
AGENTS = 10
PATIENCE = 60.0
SCRIPT = "> work 60"  # a turn that goes on, so that they are seen at work


def measure(rounds: int = ROUNDS) -> list[ground.Row]:
    with ground.repository() as place, terminal(place):
        versions, spawns = [], []
        for number in range(rounds):
            versions.append(timed(place, "--version"))
            spawns.append(timed(place, "new-agent", "--name", f"w{number}", f"Work\n{SCRIPT}"))
            ended(place, f"w{number}")
        ratio = statistics.median(spawns) / statistics.median(versions)
        seconds = ten_at_once(place)
    return [
        ground.Row(
            "`ib new-agent` returns, against `ib --version`, p50",
            f"{ratio:.2f} × ({statistics.median(spawns):.2f} s)",
            "≤ 5 ×",
            ratio <= 5,
        ),
        ground.Row("the same in instructions, its git and tmux left out", f"{cost():.2f} ×", "stated", True),
        ground.Row(
            f"{AGENTS} `ib new-agent` at once: until all agents are at work", f"{seconds:.1f} s", "≤ 5 s", seconds <= 5
        ),
    ]


@contextmanager
def terminal(place: paths.Place) -> Iterator[None]:
    """A tmux of our own, and the stand-in as the client."""
    folder = tempfile.mkdtemp(prefix="ib-b-", dir="/tmp")
    client = Path(folder, "claude")
    client.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ibstatus.testkit.fake_claude "$@"\n')
    client.chmod(0o755)
    os.environ |= {"TMUX_TMPDIR": folder, "IB_CLAUDE": str(client), "CLAUDE_CONFIG_DIR": f"{folder}/config"}
    try:
        subprocess.run(["tmux", "-L", "ib", "new-session", "-d", "-s", "bench"], check=True)
        yield
    finally:
        for name in os.listdir(place.home + "/agents"):
            ended(place, name)
        subprocess.run(["tmux", "-L", "ib", "kill-server"], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def timed(place: paths.Place, *words: str) -> float:
    before = time.monotonic()
    subprocess.run(ground.ib(*words), cwd=place.root, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.monotonic() - before


def ended(place: paths.Place, agent: str) -> None:
    subprocess.run(ground.ib("kill", agent, "--force"), cwd=place.root, check=True, capture_output=True)


def ten_at_once(place: paths.Place) -> float:
    before = time.monotonic()
    spawns = [
        subprocess.Popen(ground.ib("new-agent", f"Work\n{SCRIPT}"), cwd=place.root, stdout=subprocess.DEVNULL)
        for _ in range(AGENTS)
    ]
    for spawn in spawns:
        spawn.wait()
    while time.monotonic() - before < PATIENCE:
        done = subprocess.run(ground.ib("list", "--json"), cwd=place.root, check=True, capture_output=True)
        if sum(agent["state"] == "running" for agent in json.loads(done.stdout)) == AGENTS:
            break
        time.sleep(0.05)
    return time.monotonic() - before


def cost() -> float:
    """Instructions of `ib new-agent` itself over those of `ib --version`: what a noisy machine cannot blur."""
    with ground.repository() as place, terminal(place):
        subprocess.run(
            ground.ib("new-agent", "--name", "warm", f"Work\n{SCRIPT}"), cwd=place.root, check=True, capture_output=True
        )
        words = [
            hot.instructions(ground.ib(*args), place.root) for args in (["--version"], ["new-agent", f"Work\n{SCRIPT}"])
        ]
    return words[1] / words[0]
