"""Servers that are away, connections that break, DSNs that are wrong: nothing is lost, and no password is shown."""

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg
import pytest
from psycopg import conninfo

from ibstatus.board import postgres
from ibstatus.board.port import Board, Gone
from ibstatus.board.rules import validation as rules
from ibstatus.errors import IbError, told
from ibstatus.model.board import Claimer, Fence
from tests.board.doing import ANY, add, claim, status
from tests.board.following import Follower, Writer, cut_off
from tests.board.postgres_server import SERVER, Server
from tests.until import until

EVENTS = 1000


@pytest.fixture
def dsn() -> Iterator[str]:
    with SERVER.fresh() as fresh:
        yield fresh


SECRET = "hunter2"
WRONG = [
    f"postgresql://ann:{SECRET}@127.0.0.1:1/db",
    f"postgresql://ann:x@{SECRET}@127.0.0.1:1/db",
    f"postgresql://ann:x/{SECRET}@127.0.0.1:1/db",
    f"postgresql://ann:x#{SECRET}@127.0.0.1:1/db",
    f"postgresql://ann:x?{SECRET}@127.0.0.1:1/db",
    f"postgresql://ann:{SECRET}@127.0.0.1:{SECRET}/db",
    f"postgresql://ann:%zz{SECRET}@127.0.0.1:1/db",
    f"postgresql://ann:{SECRET}@[::1/db",
    f"postgresql://ann@127.0.0.1:1/db?password={SECRET}",
    f"postgresql://ann@127.0.0.1:1/db?{SECRET}=1",
    f"postgresql://ann@127.0.0.1:1/db?sslmode={SECRET}",
    f"postgresql://ann@127.0.0.1:1/db?passwort={SECRET}",
    f"host=127.0.0.1 port=1 user=ann password={SECRET}",
    f"host=127.0.0.1 port=1 user=ann password=my {SECRET}",
    f"host=127.0.0.1 port=1 password='{SECRET}",
    f"host=127.0.0.1 port={SECRET}",
    f"postgres:/ann:{SECRET}@127.0.0.1:1/db",
    SECRET,
    f"{SECRET}\0",
    f"postgresql://ann:{SECRET}\udc80@127.0.0.1:1/db",
]


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_no_error_shows_the_password(wrong: str) -> None:
    for attempt in (postgres.open_board, postgres.migrate):
        with pytest.raises(IbError) as refused:
            attempt(wrong)

        error = refused.value
        shown = told(error) + repr(error) + repr(error.args) + "".join(traceback.format_exception(error))
        assert SECRET not in shown
        assert error.hint


def test_an_open_board_does_not_show_its_address(dsn: str) -> None:
    with closing(postgres.open_board(f"{dsn} password={SECRET}")) as board, closing(board.doorbell()) as bell:
        assert SECRET not in f"{board!r} {board} {bell!r}"


def test_a_wrong_database_is_no_passing_trouble(dsn: str) -> None:
    with pytest.raises(IbError, match="cannot be reached") as refused:
        postgres.open_board(f"{dsn} dbname=nothing_of_that_name")

    assert not isinstance(refused.value, Gone)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "latin1"])
def test_no_dsn_changes_how_texts_are_read(dsn: str, encoding: str) -> None:
    with closing(postgres.open_board(conninfo.make_conninfo(dsn, client_encoding=encoding))) as board:
        assert add(board, "it", title="ünï 😀").title == "ünï 😀"


def test_where_no_server_is_it_is_gone(tmp_path: object) -> None:
    with pytest.raises(Gone, match=f"at {tmp_path} cannot be reached") as refused:
        postgres.open_board(f"host={tmp_path} dbname=x user=x")

    assert refused.value.cause == "nobody listens there"


def test_a_connection_that_was_cut_is_gone_and_the_next_one_is_not(dsn: str) -> None:
    board = postgres.open_board(dsn)
    add(board, "t")
    bell = board.doorbell()
    with closing(psycopg.connect(dsn, autocommit=True)) as user:
        assert cut_off(user) == 2

    for use in (board.last_seq, board.last_seq, lambda: bell.wait(20), lambda: bell.wait(0)):
        with pytest.raises(Gone):
            use()
    board.close()
    bell.close()
    with closing(postgres.open_board(dsn)) as again:
        assert claim(again).task_id == "t"


@pytest.fixture
def mortal() -> Iterator[Server]:
    server = Server()
    yield server
    server.end()


def test_what_was_committed_outlives_the_server(mortal: Server) -> None:
    """It is killed as by a power failure, while somebody listens; then there is none; then it is there again."""
    with mortal.fresh() as dsn:
        with closing(postgres.open_board(dsn)) as board, closing(board.doorbell()) as bell:
            add(board, "t")
            fence = claim(board)
            board.done([fence], "kept")
            mortal.kill()
            until(lambda: is_gone(lambda: bell.wait(20)))
            until(lambda: is_gone(lambda: postgres.open_board(dsn)))
        mortal.begin_again()
        with closing(postgres.open_board(dsn)) as again:
            assert [task.summary for task in again.done([fence], "said again")] == ["kept"]
            assert [event.channel for event in again.events(0, channels=rules.SEEDS)] == ["task_ready", "task_done"]


STEPS: dict[str, Callable[[Board], object]] = {
    "claim": lambda board: board.claim(ANY, Claimer("ann")),
    "done": lambda board: board.done([Fence("a", "ann", 1)]),
    "done_and_claim": lambda board: board.done_and_claim([Fence("a", "ann", 1)], ANY, Claimer("ann")),
    "release": lambda board: board.release(Fence("a", "ann", 1)),
}


@pytest.mark.parametrize("last", STEPS)
def test_whatever_was_answered_last_outlives_the_server(mortal: Server, last: str) -> None:
    """Who claims or finishes stands in line without a wait for the disk, and waits after it."""
    with mortal.fresh() as dsn:
        with closing(postgres.open_board(dsn)) as board:
            for id in "ab":
                add(board, id)
            if last != "claim":
                claim(board)
            STEPS[last](board)
            before = board.tasks()
            mortal.kill()
        mortal.begin_again()
        with closing(postgres.open_board(dsn)) as again:
            assert again.tasks() == before


def test_done_said_again_outlives_the_server(mortal: Server) -> None:
    """Whoever said it first has not waited for the disk yet."""
    with mortal.fresh() as dsn:
        with closing(postgres.open_board(dsn)) as board, psycopg.connect(dsn, autocommit=True) as other:
            add(board, "a")
            fence = claim(board)
            other.execute("SET synchronous_commit = off")
            other.execute("SELECT ib_board.done('{a}', '{ann}', '{1}', '')")
            board.done([fence])
            mortal.kill()
        mortal.begin_again()
        with closing(postgres.open_board(dsn)) as again:
            assert status(again, "a") == "done"


@pytest.mark.parametrize("asked", [lambda board: board.events(0)[-1].seq, lambda board: board.last_seq()])
def test_no_number_that_was_told_is_given_again(mortal: Server, asked: Callable[[Board], int]) -> None:
    with mortal.fresh() as dsn:
        with closing(postgres.open_board(dsn)) as board, psycopg.connect(dsn, autocommit=True) as other:
            other.execute("SET synchronous_commit = off")
            other.execute("SELECT ib_board.add('a','t','',NULL,5,NULL,'{}','',3,false,false)")
            last = asked(board)
            mortal.kill()
        mortal.begin_again()
        with closing(postgres.open_board(dsn)) as again:
            assert again.last_seq() == last


def test_what_was_told_outlives_the_server(mortal: Server) -> None:
    """Somebody has changed the board without waiting for the disk. Who was told of it is told the same afterwards."""
    with mortal.fresh() as dsn:
        with closing(postgres.open_board(dsn)) as board, psycopg.connect(dsn, autocommit=True) as other:
            other.execute("SET synchronous_commit = off")
            for number in range(20):
                other.execute(
                    "SELECT * FROM ib_board.add(%s,'t','',NULL,5,NULL,'{}','',3,false,false)", (f"t{number}",)
                )
            told = board.events(0)
            mortal.kill()
        mortal.begin_again()
        with closing(postgres.open_board(dsn)) as again:
            assert len(told) == 20
            assert again.events(0) == told


def is_gone(use: Callable[[], object]) -> bool:
    try:
        use()
    except Gone:
        return True
    return False


def test_no_event_is_lost_or_doubled_while_connections_are_cut(dsn: str) -> None:
    followers = [Follower(dsn) for _ in range(3)]
    writers = [Writer(dsn, name, EVENTS // 2) for name in ("left", "right")]
    for thread in (*followers, *writers):
        thread.start()

    with closing(psycopg.connect(dsn, autocommit=True)) as user:
        cuts = 0
        while any(writer.is_alive() for writer in writers):
            time.sleep(0.15)
            cuts += cut_off(user)
        written = [int(seq) for (seq,) in user.execute("SELECT seq FROM ib_board.events ORDER BY seq")]
        for follower in followers:
            follower.until_seq = written[-1]
        for follower in followers:
            follower.join(60)

    assert len(written) == EVENTS
    assert cuts > 0
    for follower in followers:
        assert follower.seen == written
