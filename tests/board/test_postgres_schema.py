"""Setting the board up in a PostgreSQL, and telling whose version it is of."""

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from ibstatus.board import postgres
from ibstatus.errors import IbError
from tests.board.doing import add
from tests.board.postgres_server import SERVER
from tests.children import Child


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
