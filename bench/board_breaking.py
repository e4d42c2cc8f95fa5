"""What is promised when connections to PostgreSQL break and claimers die, with the full counts."""

import os
import random
import time
from contextlib import closing, suppress

import psycopg

from bench.ground import Row
from ibstatus.board import postgres
from ibstatus.board.port import Lost
from ibstatus.model.board import Claimer, Fence, Template
from tests.board.following import Follower, Writer, cut_off, fill
from tests.board.postgres_server import Server
from tests.children import Child

EVENTS, FOLLOWERS = 10_000, 3
CLAIMERS, TASKS, SHORT = 8, 2_000, 5.0
ANY = Template()


def measure(server: Server) -> list[Row]:
    return [cut(server), killed(server)]


def cut(server: Server) -> Row:
    with server.fresh() as dsn, closing(psycopg.connect(dsn, autocommit=True)) as user:
        followers = [Follower(dsn) for _ in range(FOLLOWERS)]
        writers = [Writer(dsn, name, EVENTS // 4) for name in "abcd"]
        for thread in (*followers, *writers):
            thread.start()
        cuts = 0
        while any(writer.is_alive() for writer in writers):
            time.sleep(0.2)
            cuts += cut_off(user)
        written = [int(seq) for (seq,) in user.execute("SELECT seq FROM ib_board.events ORDER BY seq")]
        for follower in followers:
            follower.until_seq = written[-1]
        for follower in followers:
            follower.join()
    missing = sum(len(set(written) - set(follower.seen)) for follower in followers)
    doubled = sum(len(follower.seen) - len(set(follower.seen)) for follower in followers)
    ordered = all(follower.seen == sorted(follower.seen) for follower in followers)
    what = f"{len(written):,} events to {FOLLOWERS} followers while connections are cut"
    figure = f"{missing} missing, {doubled} doubled, {'in order' if ordered else 'NOT in order'} ({cuts:,} cuts)"
    return Row(what, figure, "0, 0, in order", len(written) == EVENTS and missing == doubled == 0 and ordered)


def killed(server: Server) -> Row:
    """The dead leave leases behind; who still holds one when it ran out is refused."""
    dice, kills = random.Random(4), 0
    with server.fresh() as dsn, closing(postgres.open_board(dsn)) as board:
        fill(dsn, TASKS)
        children = [Child(lambda: work_all(dsn)) for _ in range(CLAIMERS)]
        while board.tasks(statuses=["ready"], limit=1):
            time.sleep(dice.random() / 5)
            victim = dice.randrange(CLAIMERS)
            children[victim].kill()
            children[victim] = Child(lambda: work_all(dsn))
            kills += 1
        for child in children:
            child.result()
        told = [event.task_id for event in board.events(0, 10**6, ["task_done"])]
    what = f"{TASKS:,} tasks done by {CLAIMERS} claimers that are killed and started again"
    lost, twice = TASKS - len(set(told)), len(told) - len(set(told))
    return Row(what, f"{lost} lost, {twice} done twice ({kills} kills)", "0, 0", lost == twice == 0)


def work_all(dsn: str) -> None:
    with closing(postgres.open_board(dsn)) as board:
        agent = f"agent-{os.getpid()}"
        while board.tasks(statuses=["ready", "claimed"], limit=1):
            taken = board.claim(ANY, Claimer(agent, SHORT))
            with suppress(Lost):
                board.done([Fence(task.id, agent, task.attempt) for task in taken])
            if not taken:
                time.sleep(0.05)
