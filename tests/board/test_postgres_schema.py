"""Setting the board up in a PostgreSQL, and telling whose version it is of."""

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from ibstatus.board import migrations, postgres
from ibstatus.board.postgres import schema
from ibstatus.board.postgres.connection import Connection
from ibstatus.errors import IbError
from ibstatus.model.board import Fence
from tests.board.doing import add
from tests.board.postgres_server import SERVER
from tests.children import Child

FILES = [one.filename for one in migrations.of(schema.FOLDER)]
COMPLETE = FILES.index("004_merge_queue.sql")  # the first with which a board can be worked on
USED = """
SELECT FROM ib_board.add('a', 'A', '', NULL, 5, NULL, '{}', '', 3, false, false);
SELECT FROM ib_board.add('b', 'B', '', NULL, 4, NULL, '{a}', '', 3, false, false);
SELECT FROM ib_board.add('c', 'C', '', NULL, 3, NULL, '{}', '', 3, false, false);
SELECT FROM ib_board.add('d', 'D', '', NULL, 2, NULL, '{}', '', 3, true, false);
SELECT FROM ib_board.claim(NULL, '{}', NULL, 'ann', 900, 1, '');
SELECT FROM ib_board.done('{a}', '{ann}', '{1}', 'did it');
SELECT FROM ib_board.enqueue('a', 'ann', 'r', 'agent/ann', 'main', 'abc', '', false);
SELECT FROM ib_board.claim_task('c', 'bob', 900, '');
"""
HELD = "\nUNION ALL ".join(
    f"SELECT '{table} ' || to_jsonb(one)::text FROM ib_board.{table} one"
    for table in ("tasks", "deps", "notes", "merge_queue", "events")
)
MADE_OF = """
SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'ib_board'::regnamespace
UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger
  WHERE NOT tgisinternal AND tgrelid::regclass::text LIKE 'ib_board.%'
UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid::regclass::text LIKE 'ib_board.%'
UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'ib_board'::regnamespace
UNION ALL SELECT concat_ws(' ', attrelid::regclass, attname, atttypid::regtype, attnotnull)
  FROM pg_attribute WHERE attrelid::regclass::text LIKE 'ib_board.%' AND attnum > 0
UNION ALL SELECT pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v' AND relnamespace = 'ib_board'::regnamespace
"""


@pytest.fixture
def empty() -> Iterator[str]:
    with SERVER.fresh(migrated=False) as dsn:
        yield dsn


def run(dsn: str, statement: str) -> None:
    with closing(psycopg.connect(dsn, autocommit=True)) as psql:
        psql.execute(statement.encode())


def test_an_empty_database_is_not_changed_by_opening_it(empty: str) -> None:
    for _ in range(2):
        with pytest.raises(IbError, match="no board") as refused:
            postgres.open_board(empty)
        assert refused.value.hint == "ib board up"


def test_it_is_set_up_once(empty: str) -> None:
    made = postgres.migrate(empty)

    assert made[0] == "001_board.sql"
    assert postgres.migrate(empty) == []
    with closing(postgres.open_board(empty)) as board:
        assert add(board, "t").status == "ready"


def test_several_that_set_it_up_at_once_do_it_once(empty: str) -> None:
    children = [Child(lambda: postgres.migrate(empty)) for _ in range(4)]

    made = [child.result() for child in children]

    assert sorted(map(len, made))[:3] == [0, 0, 0]
    assert postgres.migrate(empty) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE ib_board.schema_migrations SET checksum = 'x' WHERE filename = '002_events.sql'", "another build"),
        ("INSERT INTO ib_board.schema_migrations VALUES ('999_later.sql', 'x')", "newer version"),
    ],
    ids=["edited", "newer"],
)
def test_a_board_of_another_version_is_left_alone(empty: str, change: str, message: str) -> None:
    postgres.migrate(empty)
    run(empty, change)

    for attempt in (postgres.open_board, postgres.migrate):
        with pytest.raises(IbError, match=message) as refused:
            attempt(empty)
        assert refused.value.hint
        assert ".sql" in refused.value.cause


def test_an_older_board_is_brought_up_to_date_only_when_asked(empty: str) -> None:
    postgres.migrate(empty)
    run(empty, "DELETE FROM ib_board.schema_migrations WHERE filename = '004_merge_queue.sql'")

    with pytest.raises(IbError, match="older") as refused:
        postgres.open_board(empty)

    assert refused.value.hint == "ib board up"


def test_a_file_is_applied_whole_or_not_at_all(empty: str) -> None:
    run(empty, "CREATE SCHEMA ib_board; CREATE FUNCTION ib_board.claim_task() RETURNS int LANGUAGE sql RETURN 1")
    run(empty, "CREATE TYPE ib_board.change AS (x int)")  # 002 stumbles over it

    with pytest.raises(IbError, match="refused"):
        postgres.migrate(empty)
    run(empty, "DROP TYPE ib_board.change")

    assert postgres.migrate(empty)[0] == "002_events.sql"


def rows(dsn: str, question: str) -> list[str]:
    with closing(psycopg.connect(dsn)) as psql:
        return sorted(str(row[0]) for row in psql.execute(question.encode()))


@pytest.mark.parametrize("last", FILES[COMPLETE:-1])
def test_a_board_in_use_comes_up_from_every_version(empty: str, last: str) -> None:
    with closing(Connection(empty)) as opened:
        schema.run(opened, schema.TABLE)
        for one in migrations.of(schema.FOLDER)[: FILES.index(last) + 1]:
            schema.apply(opened, one)
    run(empty, USED)
    held = rows(empty, HELD)

    made = postgres.migrate(empty)

    assert made == FILES[FILES.index(last) + 1 :]
    assert rows(empty, HELD) == held
    with closing(postgres.open_board(empty)) as board:
        assert [board.done([Fence("c", "bob", 1)])[0].status, board.merging(1) is not None] == ["done", True]
        board.merged(1, "def")
        assert {task.id: task.status for task in board.tasks()} == {
            "a": "done",
            "b": "ready",
            "c": "done",
            "d": "pending_approval",
        }
    with SERVER.fresh() as new:
        assert rows(empty, MADE_OF) == rows(new, MADE_OF)
