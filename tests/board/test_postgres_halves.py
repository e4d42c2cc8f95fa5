"""Calls that commit before they wait for the disk: what goes wrong between the two never reads as refused."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import psycopg
import pytest
from psycopg import conninfo, sql

from ibstatus.board import postgres
from ibstatus.board.port import Board, Gone
from ibstatus.model.board import Claimer
from tests.board.doing import ANY, add, claim, fence, known
from tests.board.postgres_server import SERVER

ANN = Claimer("ann")
SLOW = """
CREATE OR REPLACE FUNCTION ib_board.flush() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('statement_timeout') <> '0' THEN PERFORM pg_sleep(60); END IF;
END $$"""


@pytest.fixture
def dsn() -> Iterator[str]:
    with SERVER.fresh() as fresh:
        yield fresh


@pytest.fixture
def opened(dsn: str) -> Iterator[Callable[..., Board]]:
    with ExitStack() as kept:
        yield lambda **more: kept.enter_context(closing(postgres.open_board(conninfo.make_conninfo(dsn, **more))))


@pytest.mark.parametrize("call", ["claim", "done", "both"])
def test_one_that_is_ended_while_it_waits_may_have_been_made(dsn: str, opened, call: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as psql:
        psql.execute(SLOW)
    board, cut = opened(), opened(options="-c statement_timeout=3000")
    for id in ("a", "b"):
        add(board, id)
    held = [] if call == "claim" else [claim(board)]

    calls = {
        "claim": lambda: cut.claim(ANY, ANN),
        "done": lambda: cut.done(held),
        "both": lambda: cut.done_and_claim(held, ANY, ANN),
    }
    with pytest.raises(Gone) as ended:
        calls[call]()

    assert "not known" in (ended.value.cause or "")
    made = {"claim": ("claimed", "ready"), "done": ("done", "ready"), "both": ("done", "claimed")}
    assert (known(board, "a").status, known(board, "b").status) == made[call]


@pytest.mark.parametrize("denied", ["pg_logical_emit_message", "flush"])
def test_a_role_that_may_not_wait_later_waits_at_once(dsn: str, opened, denied: str) -> None:
    role = f"ib_role_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(dsn, autocommit=True) as psql:
        emit = psql.execute(
            "SELECT oid::regprocedure::text FROM pg_proc WHERE proname = 'pg_logical_emit_message'"
        ).fetchall()
        named = [name for (name,) in emit] if denied != "flush" else ["ib_board.flush()"]
        psql.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(role)))
        try:
            for text in (
                "GRANT USAGE ON SCHEMA ib_board TO {}",
                "GRANT ALL ON ALL TABLES IN SCHEMA ib_board TO {}",
                "GRANT ALL ON ALL SEQUENCES IN SCHEMA ib_board TO {}",
            ):
                psql.execute(sql.SQL(text).format(sql.Identifier(role)))
            for name in named:
                psql.execute(f"REVOKE EXECUTE ON FUNCTION {name} FROM PUBLIC".encode())
            board = opened(options=f"-c role={role}")
            for id in ("a", "b", "c"):
                add(board, id)
            [first] = board.claim(ANY, ANN)
            [second] = board.done_and_claim([fence(first)], ANY, ANN)
            board.done([fence(second)])
            assert [known(board, id).status for id in ("a", "b", "c")] == ["done", "done", "ready"]
            board.close()
        finally:
            psql.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(role)))
            psql.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))
