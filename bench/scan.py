"""One scan of 300 terminals that all changed, against the same captures over a bare pipelined `tmux -C`; and how many
processes `ib list` starts, however many agents there are."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.ground import Row, ib, repository
from ibstatus.model.clock import Clock
from ibstatus.model.fleet import Agent
from ibstatus.project import paths
from ibstatus.state.look import Target
from ibstatus.supervisor.log import Log
from ibstatus.supervisor.scan import LIST, Scanner
from ibstatus.system.tmux.control_mode import Connection

BAR, ROUNDS, AGENTS = 2.0, 40, 300
SCREEN = "printf '> do it\\n\\n● Reading 3 files\\n\\n✻ Pondering… (12s · esc to interrupt)\\n\\n'; exec cat"


@contextmanager
def terminals(count: int, screen: str = SCREEN) -> Iterator[list[Target]]:
    """A tmux server of our own with this many sessions of agents."""
    folder = tempfile.mkdtemp(prefix="ib-b-", dir="/tmp")
    saved = os.environ.get("TMUX_TMPDIR")
    os.environ["TMUX_TMPDIR"] = folder
    asked = ["tmux", "-u", "-f", os.devnull, "-L", "ib"]
    try:
        for first in range(0, count, 50):
            names = [f"ittybitty-0-a{number}" for number in range(first, min(count, first + 50))]
            text = "".join([f'new-session -d -s {name} -x 80 -y 40 "{screen}"\n' for name in names])
            Path(folder, "new").write_text(text)
            subprocess.run([*asked, "start-server", ";", "source-file", f"{folder}/new"], check=True)
        yield [Target(f"a{n}", {"id": f"a{n}"}, "ib", f"ittybitty-0-a{n}", is_busy=True) for n in range(count)]
    finally:
        subprocess.run([*asked, "kill-server"], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)
        os.environ.pop("TMUX_TMPDIR")
        if saved is not None:
            os.environ["TMUX_TMPDIR"] = saved


def scanner_of(place: paths.Place, targets: list[Target], state: str = "running") -> Scanner:
    made = Scanner(place, Log(place.home + "/log"))
    made.aim(targets, {one.agent: Agent(one.agent, state, "1m", "") for one in targets})
    return made


def clock() -> Clock:
    return Clock(time.monotonic(), time.monotonic(), time.time())


def seconds(what: object) -> float:
    began = time.perf_counter()
    assert callable(what)
    what()
    return time.perf_counter() - began


def measure(count: int = AGENTS, rounds: int = ROUNDS) -> list[Row]:
    if shutil.which("tmux") is None:
        return [Row("the scan", "not measured: tmux is not installed", "", False)]
    rows = []
    with repository() as place, terminals(count) as targets:
        scanner = scanner_of(place, targets)
        scanner.tick(clock())
        panes = [pane.id for pane in scanner.servers["ib"].panes.values()]
        bare = Connection("ib", "bare")
        commands = [LIST, *[f"capture-pane -p -t {pane}" for pane in panes]]

        def scan() -> None:
            scanner.forget()
            for screen in scanner.screens.values():
                screen.crc = -1
            scanner.tick(clock())

        ours, theirs = [], []
        for _ in range(rounds):
            theirs.append(seconds(lambda: bare.ask(commands)))
            ours.append(seconds(scan))
        bare.close()
        scanner.close()
        ratio = min(ours) / min(theirs)
        what = f"scan of {count} changed terminals with state match / bare pipelined `tmux -C`"
        rows.append(Row(what, f"{ratio:.2f} × ({min(ours) * 1000:.1f} ms)", f"≤ {BAR} ×", ratio <= BAR))
    return rows + [started(count) for count in (10, 100, 1000)]


def started(count: int) -> Row:
    """Programs that one `ib list` starts, tmux or any other; no supervisor has published anything."""
    what = f"processes that `ib list` starts, {count} agents"
    if shutil.which("strace") is None:
        return Row(what, "not measured: strace is not installed", "≤ 2", False)
    with repository() as place, terminals(count) as targets, tempfile.TemporaryDirectory() as folder:
        for target in targets:
            agent = Path(place.agent_dir(target.agent))
            agent.mkdir(parents=True)
            meta = {"id": target.agent, "tmux_session": target.session, "created_epoch": 1_700_000_000}
            (agent / "meta.json").write_text(json.dumps(meta))
        env = {**os.environ, "IB_SUPERVISOR": "off"}
        began = time.perf_counter()
        subprocess.run(ib("list"), cwd=place.root, env=env, capture_output=True, check=True)
        took = time.perf_counter() - began
        traced = ["strace", "-f", "-e", "trace=execve", "-o", f"{folder}/calls", *ib("list", "--json")]
        done = subprocess.run(traced, cwd=place.root, env=env, capture_output=True, check=True)
        calls = [line for line in Path(folder, "calls").read_text().splitlines() if line.endswith(" = 0")]
        right = len(json.loads(done.stdout)) == count
        own = len(calls) - 1  # the first is `ib` itself
        return Row(what, f"{own} ({took * 1000:.0f} ms)", "≤ 2", own <= 2 and right)
