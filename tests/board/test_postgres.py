"""What only PostgreSQL's board has: other programs that listen, and other programs that write."""

import time
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from typing import Any

import psycopg
import pytest
from psycopg import conninfo

from ibstatus.board import postgres
from ibstatus.board.port import Board
from ibstatus.board.postgres.store import PostgresBoard
from ibstatus.board.rules import validation as rules
from ibstatus.errors import IbError
from ibstatus.model.board import Claimer, Entry, Event, NewTask, Task
from tests.board.doing import ANY, BRANCH, add, claim, claim_it, known, new, status, told
from tests.board.postgres_server import SERVER
from tests.children import Child
from tests.until import until

Foreign = psycopg.Connection[Any]


@pytest.fixture
def dsn() -> Iterator[str]:
    with SERVER.fresh() as fresh:
        yield fresh


@pytest.fixture
def board(dsn: str) -> Iterator[Board]:
    with closing(postgres.open_board(dsn)) as opened:
        yield opened


@pytest.fixture
def psql(dsn: str) -> Iterator[Foreign]:
    """A program that knows nothing of ib and has its own settings."""
    with closing(psycopg.connect(dsn, autocommit=True)) as foreign:
        yield foreign


def listen(psql: Foreign) -> None:
    for channel in (*rules.CHANNELS, rules.WAKE):
        psql.execute(f"LISTEN {channel}".encode())


def heard(psql: Foreign) -> list[str]:
    psql.execute("NOTIFY heard")  # whatever was told before comes with the answer
    return [f"{one.channel} {one.payload}".strip() for one in psql.notifies(timeout=0)]


def test_others_hear_the_words_of_old(board: Board, psql: Foreign) -> None:
    board.add(new("a", project_id="web"))
    add(board, "b", after=("a",))
    listen(psql)

    board.done([claim(board)], branch=BRANCH)
    (entry,) = board.entries()
    board.merging(entry.id)
    board.merged(entry.id, "f" * 40)
    board.fail(claim(board), "no")

    assert [line for line in heard(psql) if line != "ib_board"] == [
        "task_claimed a|web",
        "task_done a|web|ann",
        f"merge_ready {entry.id}|a",
        f"merge_merged {entry.id}|a",
        "task_ready b|",
        "task_claimed b|",
        "task_retry b|",
        "task_ready b|",
    ]


def test_a_change_of_many_rings_once(board: Board, psql: Foreign) -> None:
    for number in range(10):
        add(board, f"t{number}")
    listen(psql)

    board.claim(ANY, Claimer("ann"), 10)

    rings = heard(psql)
    assert rings.count("ib_board") == 1
    assert len(rings) == 11


def test_the_longest_names_and_texts_still_fit(board: Board, psql: Foreign) -> None:
    longest = "🦊" * rules.LONGEST_NAME
    listen(psql)

    board.add(NewTask("x" * 100, "🦊" * 20_000, body="🦊" * 200_000, project_id=longest))
    board.done([claim(board, longest)], "🦊" * 200_000)

    assert f"task_done {'x' * 100}|{longest}|{longest}" in heard(psql)
    assert [len(event.summary or "") for event in board.events(0, channels=["task_done"])] == [2000]


def test_what_others_write_is_told_too(board: Board, psql: Foreign) -> None:
    add(board, "old")
    add(board, "child", after=("old",))
    bell, seq = board.doorbell(), board.last_seq()

    psql.execute("INSERT INTO ib_board.tasks (id, title, status) VALUES ('x', 'X', 'ready'), ('y', 'Y', 'pending')")
    assert bell.wait(20)
    claimed = (
        "UPDATE ib_board.tasks SET status = 'claimed', claimed_by = 'psql', attempt = attempt + 1 WHERE id = 'old'"
    )
    psql.execute(claimed.encode())
    psql.execute("UPDATE ib_board.tasks SET status = 'done', done_by = 'psql', claimed_by = NULL WHERE id = 'old'")

    assert told(board, seq) == ["task_ready x", "task_claimed old", "task_done old", "task_ready child"]
    assert bell.wait(20)
    until(lambda: not bell.wait(0))  # one for each that was told
    bell.close()


def test_others_claim_and_finish_by_the_same_rules(board: Board, psql: Foreign) -> None:
    for id in "ab":
        add(board, id)

    (row,) = psql.execute("SELECT id, attempt FROM ib_board.claim(NULL, '{}', NULL, 'bob', 900, 1, '')").fetchall()
    assert row == ("a", 1)
    with pytest.raises(psycopg.Error, match="was lost"):
        psql.execute("SELECT ib_board.done('{a}', '{ann}', '{1}', '')")
    psql.execute("SELECT ib_board.done('{a}', '{bob}', '{1}', 'well')")
    assert (known(board, "a").done_by, known(board, "a").summary) == ("bob", "well")


def test_whatever_becomes_of_a_task_rings(board: Board) -> None:
    for id in "ab":
        add(board, id)
    with closing(board.doorbell()) as bell:
        assert not bell.wait(0)
        board.depend("a", ["b"])  # no event tells of it
        assert bell.wait(5)


def test_others_settle_what_they_tie(board: Board, psql: Foreign) -> None:
    add(board, "a")
    add(board, "b")

    psql.execute("INSERT INTO ib_board.deps (task_id, depends_on) VALUES ('b', 'a')")
    assert status(board, "b") == "pending"
    psql.execute("DELETE FROM ib_board.tasks WHERE id = 'a'")
    assert status(board, "b") == "ready"


@pytest.mark.parametrize(
    "change",
    ["status = 'done', done_by = 'x'", "attempt = 7", "status = 'nonsense'", "priority = 99", "status = 'claimed'"],
)
def test_others_cannot_make_what_is_not_possible(board: Board, psql: Foreign, change: str) -> None:
    add(board, "t")
    seq = board.last_seq()

    with pytest.raises(psycopg.IntegrityError):
        psql.execute(f"UPDATE ib_board.tasks SET {change} WHERE id = 't'".encode())

    assert (status(board, "t"), board.last_seq()) == ("ready", seq)


def test_who_comes_second_waits_and_is_numbered_second(dsn: str, board: Board, psql: Foreign) -> None:
    """`seq` is the order of commits: a reader that has seen a number will see no smaller one."""
    with psql.transaction():
        psql.execute("INSERT INTO ib_board.tasks (id, title, status) VALUES ('first', 'F', 'ready')")
        child = Child(lambda: add(postgres.open_board(dsn), "second").id)
        until(lambda: waiting(board) == 1)
        assert told(board) == []
    assert child.result() == "second"

    assert told(board) == ["task_ready first", "task_ready second"]


def waiting(board: Board) -> int:
    assert isinstance(board, PostgresBoard)
    row = board.opened.one("SELECT count(*) FROM pg_locks WHERE NOT granted")
    return int(row[0]) if row else 0


def test_whoever_keeps_the_board_locked_is_named_as_the_cause(board: Board, psql: Foreign) -> None:
    assert isinstance(board, PostgresBoard)
    board.opened.all("SELECT set_config('lock_timeout', '50ms', false)")
    with psql.transaction():
        psql.execute("UPDATE ib_board.tasks SET title = 'x' WHERE false")

        with pytest.raises(IbError, match="keeps the board locked"):
            add(board, "t")

    assert add(board, "t").status == "ready"


def test_a_deadlock_that_others_make_is_tried_again(dsn: str, board: Board, psql: Foreign) -> None:
    """A foreign program locks a row first, and stands in line afterwards: the wrong way round. It is we who look for a
    deadlock, once it is there."""
    add(board, "t")
    ours = conninfo.make_conninfo(dsn, options="-c deadlock_timeout=2s")
    with psql.transaction():
        psql.execute("SET LOCAL deadlock_timeout = '60s'")
        psql.execute("SELECT FROM ib_board.tasks WHERE id = 't' FOR UPDATE")
        child = Child(lambda: claim_it(postgres.open_board(ours), "t").attempt)
        until(lambda: waiting(board) == 1)
        psql.execute("UPDATE ib_board.tasks SET title = 'x' WHERE id = 't'")

    assert child.result() == 1
    assert known(board, "t").title == "x"


@pytest.mark.parametrize("ahead", [3600, -3600])
def test_no_clock_of_a_client_counts(dsn: str, board: Board, ahead: int) -> None:
    def claim_elsewhere() -> None:
        clock = time.time
        time.time = lambda: clock() + ahead
        claim(postgres.open_board(dsn), lease=900)

    add(board, "t")
    Child(claim_elsewhere).result()

    task = known(board, "t")
    assert board.sweep() == []
    assert task.lease_until is not None
    assert task.claimed_at is not None
    lease = datetime.fromisoformat(task.lease_until) - datetime.fromisoformat(task.claimed_at)
    assert 899 <= lease.total_seconds() <= 901


def test_the_settings_of_a_database_do_not_matter(dsn: str, board: Board, psql: Foreign) -> None:
    name = psql.info.dbname
    for setting in ("search_path = pg_catalog", "timezone = 'Asia/Kolkata'", "datestyle = 'German'"):
        psql.execute(f"ALTER DATABASE {name} SET {setting}".encode())
    psql.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = 'repeatable read'".encode())

    with closing(postgres.open_board(dsn)) as other:
        add(other, "t")
        assert known(other, "t") == known(board, "t")


@pytest.mark.parametrize(("view", "record"), [("shown", Task), ("shown_entries", Entry), ("shown_events", Event)])
def test_the_views_have_the_fields_of_the_records(psql: Foreign, view: str, record: Any) -> None:
    columns = psql.execute(f"SELECT * FROM ib_board.{view}".encode()).description or []

    assert [column.name for column in columns if column.name != "ordinal"] == list(record.__struct_fields__)
