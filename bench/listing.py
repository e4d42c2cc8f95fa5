"""`ib list`: as a process in instructions where the snapshot is true, and the whole command in time where it is not."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

import ibstatus
from bench import hot
from bench.ground import Row, ib, repository
from ibstatus.model.fleet import Agent, Snapshot, Wake
from ibstatus.project import paths
from ibstatus.state import snapshot
from ibstatus.system import disk, timestamps
from ibstatus.system.text import times

COUNTS = (10, 100, 1000)
BARRED = 100  # up to here the bar holds; more is stated
ROUNDS = 7


def fill(place: paths.Place, count: int) -> None:
    """So many agents, and what a supervisor publishes of them, who has looked just now and would see all changes."""
    now, agents = time.time(), []
    for number in range(count):
        folder = Path(place.agent_dir(f"agent-{number}"))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "meta.json").write_text(f'{{"id": "agent-{number}"}}')
        agents.append(agent(f"agent-{number}", now - 60 * number))
    snapshot.write(place, Snapshot(1, timestamps.utc(now), ibstatus.__version__, agents, [], [], Wake()))
    keep(place)


def agent(name: str, created: float) -> Agent:
    return Agent(
        id=name,
        state="running",
        age=times.age(time.time() - created),
        prompt="Implement dark mode for the settings page, with tests",
        manager="agent-0" if name != "agent-0" else None,
        since=created + 5.25,
        created=created,
        model="sonnet",
        source="hooks",
        said="I have read the settings page and begin with the theme provider.",
    )


def keep(place: paths.Place) -> None:
    """As if all of it had been written a while ago, and looked at just now."""
    now = time.time_ns()
    for path in Path(place.home).rglob("*"):
        disk.utime(str(path), ns=(now - 10**10, now - 10**10))
    snapshot.touch(place, now)


def cost(count: int) -> float:
    """Instructions of `ib list --json` over those of an empty python."""
    hot.compiled()
    with repository() as place:
        fill(place, count)
        floor = hot.instructions([sys.executable, "-c", "pass"], place.root)
        return hot.instructions(ib("list", "--json"), place.root) / floor


def measure(counts: tuple[int, ...] = COUNTS) -> list[Row]:
    rows = []
    if not hot.available():
        rows.append(Row("`ib list --json`", "not measured: valgrind is not installed", f"≤ {hot.BAR} ×", False))
    for count in counts if hot.available() else ():
        found, bar = cost(count), hot.BAR if count <= BARRED else None
        what = f"`ib list --json` from the snapshot, {count} agents"
        rows.append(Row(what, f"{found:.2f} ×", f"≤ {bar} ×" if bar else "stated", bar is None or found <= bar))
    return rows + [in_time(count) for count in counts]


def in_time(count: int) -> Row:
    """The whole command, as people type it."""
    with repository() as place:
        fill(place, count)
        took, empty = seconds(ib("list"), place), seconds([sys.executable, "-c", "pass"], place)
    figure = f"{took / empty:.1f} × ({took * 1000:.0f} ms)"
    return Row(f"`ib list` from the snapshot, {count} agents / `python -c pass`, in time", figure, "stated", True)


def seconds(argv: list[str], place: paths.Place) -> float:
    found = []
    for _ in range(ROUNDS):
        snapshot.touch(place, time.time_ns())
        began = time.perf_counter()
        subprocess.run(argv, cwd=place.root, check=True, capture_output=True)
        found.append(time.perf_counter() - began)
    return statistics.median(found)
