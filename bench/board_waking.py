"""From insert to claimed: the board, bare LISTEN/NOTIFY, procrastinate and pgqueuer, in turns at each trial."""

import os
import random
import statistics
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager

import psycopg

from bench.ground import Row
from bench.peers import programs
from ibstatus.board import postgres
from ibstatus.model.board import Claimer, NewTask, Template
from tests.board.following import fill
from tests.board.postgres_server import Server
from tests.children import Child

TRIALS = 100
SETTLED = 0.05  # what a peer still writes after it has begun a job is not to fall on the next one's time
BARE = "WITH made AS (INSERT INTO bare (what) VALUES ('x') RETURNING 1) SELECT pg_notify('bare', '') FROM made"
ANY = Template()


def measure(server: Server, python: str) -> list[Row]:
    """In another order at each trial; nobody else has anything to do meanwhile."""
    with ExitStack() as stack:
        wakes: dict[str, Callable[[], float]] = {
            "ours": stack.enter_context(ours_waiting(server)),
            "raw": stack.enter_context(raw_waiting(server)),
        }
        for name in ("procrastinate", "pgqueuer") if python else ():
            wakes[name] = stack.enter_context(peer_waiting(server, python, name))
        took: dict[str, list[float]] = {name: [] for name in wakes}
        dice = random.Random(4)
        for _ in range(TRIALS):
            for name in dice.sample(list(wakes), len(wakes)):
                took[name].append(wakes[name]())
                time.sleep(SETTLED)
    half = {name: statistics.median(values) * 1000 for name, values in took.items()}
    what = "insert → wake → claimed, p50"
    rows = [below(f"{what} / raw LISTEN/NOTIFY and the same claim", half, "raw", 1.5)]
    return rows + [below(f"{what} / {name}", half, name, 1.0) for name in ("procrastinate", "pgqueuer")]


def below(what: str, half: dict[str, float], theirs: str, bar: float) -> Row:
    if theirs not in half:
        return Row(what, "not measured: PyPI cannot be reached", f"≤ {bar} ×", False)
    ratio = half["ours"] / half[theirs]
    return Row(what, f"{ratio:.2f} × ({half['ours']:.2f} ms, {half[theirs]:.2f} ms)", f"≤ {bar} ×", ratio <= bar)


@contextmanager
def waiter(work: Callable[[Callable[[], None]], None]) -> Iterator[Callable[[], float]]:
    """A process of its own, as in life, that `work`s until it is killed: it calls when it is ready, and at each claim.

    What is yielded waits for the next call, and says when that was."""
    reader, writer = os.pipe()
    child = Child(lambda: work(lambda: os.write(writer, struct.pack("d", time.monotonic())) and None))

    def called() -> float:
        return float(struct.unpack("d", os.read(reader, 8))[0])

    try:
        called()
        yield called
    finally:
        child.kill()
        os.close(reader)
        os.close(writer)


@contextmanager
def ours_waiting(server: Server) -> Iterator[Callable[[], float]]:
    def work(call: Callable[[], None]) -> None:
        board = postgres.open_board(dsn)
        bell = board.doorbell()
        call()
        while True:
            if board.claim(ANY, Claimer("ann")):
                call()
            bell.wait(60.0)

    with server.fresh() as dsn, waiter(work) as called, closing(postgres.open_board(dsn)) as board:
        numbers = iter(range(10**6))

        def wake() -> float:
            begun = time.monotonic()
            board.add(NewTask(f"task-{next(numbers)}", "One of many"))
            return called() - begun

        yield wake


@contextmanager
def raw_waiting(server: Server) -> Iterator[Callable[[], float]]:
    """A bare table and NOTIFY, a bare listener; the claim is the board's, of tasks that are there before."""

    def work(call: Callable[[], None]) -> None:
        board, listener = postgres.open_board(dsn), psycopg.connect(dsn, autocommit=True)
        listener.execute("LISTEN bare")
        call()
        for _ in listener.notifies():
            board.claim(ANY, Claimer("ann"))
            call()

    with server.fresh() as dsn:
        fill(dsn, TRIALS)
        with waiter(work) as called, closing(psycopg.connect(dsn, autocommit=True)) as psql:
            psql.execute("CREATE TABLE bare (id bigserial PRIMARY KEY, what text)")

            def wake() -> float:
                begun = time.monotonic()
                psql.execute(BARE, prepare=True)
                return called() - begun

            yield wake


@contextmanager
def peer_waiting(server: Server, python: str, name: str) -> Iterator[Callable[[], float]]:
    with server.fresh(migrated=False) as dsn:
        programs.run(python, name, dsn, "install")
        peer = programs.Peer(python, name, dsn, "wake")

        def wake() -> float:
            peer.tell()
            return float(peer.answer())

        try:
            yield wake
        finally:
            peer.end()
