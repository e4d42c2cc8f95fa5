"""The board on SQLite: a claim and its completion against the bare updates, and eight processes at one board."""

import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bench.ground import Row, percentile
from ibstatus.board.sqlite.store import SqliteBoard, open_board
from ibstatus.model.board import Claimer, Fence, NewTask, Template

ROUNDS = 9
LOOPS = 200
BATCH = 10
PROCESSES = 8
SECONDS = 8.0
RATIO, SLOWEST_MS, FAIRNESS = 0.6, 50.0, 0.3

ANY, ME = Template(), Claimer("bench")
BARE = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE tasks (n INTEGER PRIMARY KEY, title TEXT, body TEXT, status TEXT, claimed_by TEXT, attempt INTEGER);
CREATE INDEX ready ON tasks (n) WHERE status = 'ready';
"""
TAKE = """
UPDATE tasks SET status = 'claimed', claimed_by = 'bench', attempt = attempt + 1
WHERE n = (SELECT n FROM tasks WHERE status = 'ready' ORDER BY n LIMIT 1) RETURNING n
"""
FINISH = "UPDATE tasks SET status = 'done' WHERE n = ? AND claimed_by = 'bench' AND attempt = 1"


def fill(board: SqliteBoard, count: int) -> None:
    """So many ready tasks, in one transaction; their events come with them."""
    with board.connection.change() as sql:
        for number in range(count):
            n = board.put(sql, NewTask(f"task-{number}", "Add dark mode to the settings page", body="x" * 1000))
            sql.execute("UPDATE tasks SET status = 'ready' WHERE n = ?", (n,))


@contextmanager
def bare(folder: str, count: int) -> Iterator[sqlite3.Connection]:
    """The same updates and pragmas, and nothing else: no fence, no events, no bell, no second process in mind."""
    made = sqlite3.connect(f"{folder}/bare.db", isolation_level=None)
    made.executescript(BARE)
    rows = [(n, "Add dark mode to the settings page", "x" * 1000) for n in range(count)]
    made.execute("BEGIN")
    made.executemany("INSERT INTO tasks VALUES (?, ?, ?, 'ready', NULL, 0)", rows)
    made.execute("COMMIT")
    yield made
    made.close()


def one_bare(sql: sqlite3.Connection) -> None:
    ((n,),) = sql.execute(TAKE).fetchall()
    sql.execute(FINISH, (n,))


def ours(board: SqliteBoard, count: int = 1) -> None:
    taken = board.claim(ANY, ME, count)
    board.done([Fence(task.id, "bench", task.attempt) for task in taken])


def seconds(work: Callable[[], None], times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - began) / times


def measure() -> list[Row]:
    return [*alone(), *together()]


def alone() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="ib-bench-") as folder:
        board = open_board(f"{folder}/board.db")
        fill(board, ROUNDS * LOOPS * 2)
        with bare(folder, ROUNDS * LOOPS) as sql:
            rounds = [one_round(board, sql) for _ in range(ROUNDS)]
        board.close()
    floor, single, batch = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = statistics.median(took / mine for took, mine, _ in rounds)
    text = f"{ratio:.2f} × ({1 / single:.0f} of {1 / floor:.0f} a second)"
    what = "board on SQLite: claim and complete / the two bare updates, each synced to disk, 1 process"
    tenfold = Row(f"the same, {BATCH} in a batch", f"{1 / batch:.0f} tasks a second", "stated", True)
    return [Row(what, text, f"≥ {RATIO} ×", ratio >= RATIO), tenfold]


def one_round(board: SqliteBoard, sql: sqlite3.Connection) -> tuple[float, float, float]:
    """Seconds a task: bare, ours, ours in batches. One after the other, so that the machine's mood meets all."""
    floor = seconds(lambda: one_bare(sql), LOOPS)
    single = seconds(lambda: ours(board), LOOPS)
    return floor, single, seconds(lambda: ours(board, BATCH), LOOPS // BATCH) / BATCH


def together() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="ib-bench-") as folder:
        path = f"{folder}/board.db"
        board = open_board(path)
        fill(board, int(SECONDS * 5000))
        board.close()
        begin = str(time.time() + 2.0)
        argv = [sys.executable, "-m", "bench.board_sqlite", path, begin]
        workers = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)]
        found = [json.loads(worker.communicate()[0]) for worker in workers]
    slow = percentile([took for each in found for took in each], 0.99) * 1000
    counts = [len(each) for each in found]
    share, rate = min(counts) / max(counts), sum(counts) / SECONDS
    what = f"board on SQLite, {PROCESSES} processes"
    return [
        Row(f"{what}: p99 of a claim or completion", f"{slow:.0f} ms", f"≤ {SLOWEST_MS:.0f} ms", slow <= SLOWEST_MS),
        Row(f"{what}: operations of the slowest / of the fastest", f"{share:.2f}", f"≥ {FAIRNESS}", share >= FAIRNESS),
        Row(f"{what}: operations a second", f"{rate:.0f}", "stated", True),
    ]


def worker(path: str, begin: float) -> list[float]:
    """How long each of its operations took."""
    board, took = open_board(path), list[float]()
    while time.time() < begin:
        time.sleep(0.001)
    until = time.perf_counter() + SECONDS
    last = time.perf_counter()
    while last < until:
        (task,) = board.claim(ANY, ME)
        between = time.perf_counter()
        board.done([Fence(task.id, "bench", task.attempt)])
        took += [between - last, (last := time.perf_counter()) - between]
    board.close()
    return took


if __name__ == "__main__":
    print(json.dumps(worker(sys.argv[1], float(sys.argv[2]))))
