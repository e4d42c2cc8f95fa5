"""What only the store on SQLite promises: its file, its schema, its clock, its gate, its bells."""

import errno
import itertools
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ibstatus.board.port import Gone
from ibstatus.board.rules import validation as rules
from ibstatus.board.sqlite import schema
from ibstatus.board.sqlite.connection import Gate
from ibstatus.board.sqlite.lease_clock import Clock, boot_id
from ibstatus.board.sqlite.store import SqliteBoard, open_board
from ibstatus.errors import IbError
from ibstatus.model.board import Claimer, Fence
from ibstatus.system import disk
from tests.board.doing import ANY, BRANCH, add, claim, finish, known, status, told
from tests.children import Child
from tests.conftest import PROJECT
from tests.faults import Faults

NOW = 1_800_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "board.db")


@pytest.fixture
def board(path: str) -> Iterator[SqliteBoard]:
    made = open_board(path)
    yield made
    made.close()


@contextmanager
def open_again(path: str) -> Iterator[SqliteBoard]:
    made = open_board(path)
    try:
        yield made
    finally:
        made.close()


class Turned:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.at, self.boot = 100.0, "first"
        self.clock = Clock(lambda: self.boot, lambda: self.at, lambda: NOW)


# the file


def test_the_file_is_for_its_owner_alone(tmp_path: Path, path: str) -> None:
    old = os.umask(0)
    try:
        board = open_board(path)
        add(board, "t")
        modes = {leaf: stat.S_IMODE((tmp_path / leaf).stat().st_mode) for leaf in os.listdir(tmp_path)}
        board.close()
    finally:
        os.umask(old)

    assert {leaf for leaf in modes if leaf.startswith("board.db")} == {"board.db", "board.db-wal", "board.db-shm"}
    assert {mode & 0o077 for mode in modes.values()} == {0}


def test_what_a_call_returned_survives_the_power(board: SqliteBoard) -> None:
    def setting(name: str) -> object:
        return board.connection.sql.execute(f"PRAGMA {name}").fetchone()[0]

    assert setting("journal_mode") == "wal"
    assert setting("synchronous") == 2  # FULL
    assert (setting("foreign_keys"), setting("recursive_triggers")) == (1, 1)


def test_without_a_folder_there_is_no_board(tmp_path: Path) -> None:
    with pytest.raises(IbError) as refused:
        open_board(str(tmp_path / "nowhere" / "board.db"))

    assert refused.value.hint == "ib init"
    assert os.listdir(tmp_path) == []


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IbError):
        open_board(str(tmp_path))


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4096])
def test_what_is_no_database_is_left_alone(path: str, content: bytes) -> None:
    Path(path).write_bytes(content)

    with pytest.raises(IbError, match="damaged") as refused:
        open_board(path)

    assert "recover" in refused.value.hint
    assert Path(path).read_bytes() == content


def test_the_database_of_another_program_is_left_alone(path: str) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE tasks (id)")
    other.close()

    with pytest.raises(IbError, match="another program"):
        open_board(path)


@pytest.mark.parametrize("broken", [OSError("not now"), KeyboardInterrupt()])
def test_the_gate_is_free_however_giving_it_back_ends(
    path: str, monkeypatch: pytest.MonkeyPatch, broken: BaseException
) -> None:
    Path(path).parent.joinpath("locks").mkdir(exist_ok=True)
    lock = str(Path(path).parent / "locks" / "board")
    one, other = Gate(lock), Gate(lock)
    flock = disk.flock

    def fails(fd: int, how: int) -> None:
        if how == disk.LOCK_UN:
            raise broken
        flock(fd, how)

    monkeypatch.setattr(disk, "flock", fails)
    with suppress(KeyboardInterrupt), one:
        pass
    monkeypatch.setattr(disk, "flock", lambda fd, how: flock(fd, how if how == disk.LOCK_UN else how | disk.LOCK_NB))
    with other:  # BlockingIOError, if it were still taken
        pass
    other.close()
    with one:
        pass
    one.close()
    assert (one.inner.fd, one.outer.fd, other.inner.fd) == (-1, -1, -1)


def test_a_folder_in_its_place_says_so(path: str) -> None:
    Path(path).mkdir()

    with pytest.raises(IbError, match="is no file") as refused:
        open_board(path)

    assert f"mv {path} {path}.old" in str(refused.value.hint)


def test_a_damaged_board_says_so(path: str) -> None:
    board = open_board(path)
    for number in range(200):
        add(board, f"t{number}", body="x" * 200)
    board.close()
    data = bytearray(Path(path).read_bytes())
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    Path(path).write_bytes(data)

    def use() -> None:
        with open_again(path) as broken:
            broken.tasks()
            broken.search("x")

    with pytest.raises(IbError, match="damaged"):
        use()


def test_a_full_disk_changes_nothing_and_ends_when_there_is_space(board: SqliteBoard) -> None:
    add(board, "first")
    seq = board.last_seq()
    (pages,) = board.connection.sql.execute("PRAGMA page_count").fetchone()
    board.connection.sql.execute(f"PRAGMA max_page_count = {pages}")

    with pytest.raises(IbError, match="grow") as refused:
        add(board, "big", body="x" * 100_000)

    assert "space" in refused.value.hint
    assert (board.ids(""), board.last_seq()) == (["first"], seq)
    board.connection.sql.execute("PRAGMA max_page_count = 1000000")
    add(board, "big", body="x" * 100_000)
    assert told(board) == ["task_ready first", "task_ready big"]


def test_a_board_that_was_taken_away_is_gone(board: SqliteBoard, path: str) -> None:
    """As `git clean` does it. What is written into a file without a name nobody would see."""
    add(board, "t")
    bell = board.doorbell()
    for leaf in ("board.db", "board.db-wal", "board.db-shm"):
        os.unlink(os.path.join(os.path.dirname(path), leaf))

    with pytest.raises(Gone):
        add(board, "u")
    with pytest.raises(Gone):
        bell.wait(0)
    bell.close()
    with open_again(path) as fresh:
        assert fresh.tasks() == []
        add(fresh, "u")
        with pytest.raises(Gone):
            add(board, "v")


def test_another_program_that_keeps_it_locked_is_named_as_the_cause(board: SqliteBoard, path: str) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    board.connection.sql.execute("PRAGMA busy_timeout = 0")

    with pytest.raises(Gone, match="Another program"):
        add(board, "t")

    assert board.tasks() == [], "reading goes on"
    other.execute("ROLLBACK")
    other.close()
    add(board, "t")


def test_two_in_one_process_keep_their_locks_when_one_leaves(path: str) -> None:
    """Whoever closes the file beside SQLite drops the locks of all; the last to leave would take the log away."""
    board, other = open_board(path), open_board(path)
    other.close()

    program = f"from ibstatus.board.sqlite.store import open_board; open_board({path!r}).close()"
    subprocess.run([sys.executable, "-c", program], check=True)

    assert os.path.exists(path + "-wal"), "somebody still has it open"
    add(board, "t")
    board.close()
    with open_again(path) as again:
        assert again.ids("") == ["t"]


# made and brought up to date


def test_many_open_a_board_that_is_not_there_yet(tmp_path: Path) -> None:
    def opened(number: int, path: str) -> int:
        with open_again(path) as board:
            add(board, f"t{number}")
            return len(board.connection.all("SELECT * FROM schema_migrations"))

    for round in range(4):
        path = str(tmp_path / f"board{round}.db")
        children = [Child(lambda number=number, path=path: opened(number, path)) for number in range(4)]  # type: ignore[misc]
        assert {child.result() for child in children} == {1}
        with open_again(path) as board:
            assert len(board.tasks()) == 4


def test_who_is_killed_while_making_it_leaves_one_that_can_be_opened(tmp_path: Path) -> None:
    def half(path: str, at: int) -> None:
        Faults().arm(at)
        open_board(path).close()

    for at in itertools.count(1):
        path = str(tmp_path / f"{at}" / "board.db")
        os.mkdir(os.path.dirname(path))
        code = Child(lambda path=path, at=at: half(path, at)).ended()  # type: ignore[misc]
        with open_again(path) as board:
            add(board, "t")
        if code == 0:
            break
        assert code == -signal.SIGKILL
    assert at > 5


def test_a_board_of_a_newer_version_is_refused(path: str) -> None:
    with open_again(path) as board:
        board.connection.sql.execute("INSERT INTO schema_migrations VALUES ('999_more.sql', 'x', 'now')")

    with pytest.raises(IbError, match="newer") as refused:
        open_board(path)

    assert "999_more.sql" in refused.value.cause


def test_a_board_that_went_another_way_is_refused(path: str) -> None:
    with open_again(path) as board:
        board.connection.sql.execute("UPDATE schema_migrations SET checksum = 'x'")

    with pytest.raises(IbError, match="another build"):
        open_board(path)


def test_a_migration_is_applied_whole_or_not_at_all(board: SqliteBoard) -> None:
    ours = schema.migrations.of(schema.FOLDER)
    bad = schema.migrations.read("002_bad.sql", b"CREATE TABLE more (a);\nCREATE TABLE more (a);\n")

    with pytest.raises(sqlite3.Error):
        schema.bring_up(board.connection, [*ours, bad])

    assert "more" not in schema.tables(board.connection)
    good = schema.migrations.read("002_good.sql", b"CREATE TABLE more (a);\n")
    schema.bring_up(board.connection, [*ours, good])
    schema.bring_up(board.connection, [*ours, good])
    assert list(schema.applied(board.connection)) == ["001_board.sql", "002_good.sql"]


def test_no_statement_of_the_schema_is_left_over() -> None:
    for one in schema.migrations.of(schema.FOLDER):
        assert "".join(schema.statements(one.sql)).strip() == one.sql.strip()


# what the schema keeps, whoever writes


def test_the_legal_moves_are_those_of_the_page(board: SqliteBoard) -> None:
    text = (PROJECT / "docs" / "board.md").read_text().partition("## The life of a task")[2].partition("\n\n- ")[0]
    told = set[tuple[str, str]]()
    for line in text.splitlines():
        before, after = ([word.strip() for word in cell.split(",")] for cell in (*line.split("|"), "", "")[1:3])
        if before[0].startswith("all but"):
            before = [status for status in rules.STATUSES if status not in before[0]]
        told |= set(itertools.product(before, after))

    pairs = {pair for pair in told if set(pair) <= set(rules.STATUSES) and pair[0] != pair[1]}
    assert pairs == set(board.connection.all("SELECT before, after FROM moves"))


OTHERS = {
    "claimed": "claimed_by = 'x', lease_end = 1, lease_boot = 'b', attempt = attempt + 1",
    "done": "done_by = 'x', claimed_by = NULL, lease_end = NULL",
}
FREE = "claimed_by = NULL, lease_end = NULL, done_by = NULL"


@pytest.mark.parametrize("before", rules.STATUSES)
def test_no_hand_moves_a_task_where_it_may_not_go(board: SqliteBoard, before: str) -> None:
    from tests.board.test_life import STATES

    STATES[before](board)
    sql, legal = board.connection.sql, board.connection.all("SELECT before, after FROM moves")
    for after in rules.STATUSES:
        if after == before:
            continue
        sql.execute("BEGIN")
        along = f"max_attempts = 9, approved_by = 'me', {OTHERS.get(after, FREE)}"
        move = f"UPDATE tasks SET status = '{after}', {along} WHERE id = 't'"
        if (before, after) in legal:
            sql.execute(move)
        else:
            with pytest.raises(sqlite3.IntegrityError):
                sql.execute(move)
        if sql.in_transaction:
            sql.execute("ROLLBACK")
    assert status(board, "t") == before


@pytest.mark.parametrize(
    "change",
    [
        "status = 'over'",
        "priority = 11",
        "attempt = attempt - 1",
        "attempt = attempt + 1",
        "claimed_by = NULL",
        "lease_end = NULL",
        "done_by = 'x'",
        "max_attempts = 0",
        "title = NULL",
    ],
)
def test_no_hand_makes_a_claimed_task_what_it_cannot_be(board: SqliteBoard, change: str) -> None:
    add(board, "t")
    claim(board)

    with pytest.raises(sqlite3.IntegrityError):
        board.connection.sql.execute(f"UPDATE tasks SET {change} WHERE id = 't'")


def test_no_hand_passes_an_approval_or_the_last_attempt_by(board: SqliteBoard) -> None:
    add(board, "asks", requires_approval=True)
    add(board, "over", max_attempts=1)
    board.fail(claim(board), "no")

    for id in ("asks", "over"):
        with pytest.raises(sqlite3.IntegrityError):
            board.connection.sql.execute("UPDATE tasks SET status = 'ready' WHERE id = ?", (id,))


def test_the_rule_of_readiness_agrees_with_where_tasks_stand(board: SqliteBoard) -> None:
    add(board, "a")
    add(board, "b", after=("a",))
    add(board, "c", after=("b",), requires_approval=True)
    finish(board, "a", BRANCH)
    board.abandon(1, "")
    finish(board, "b")

    wrong = """SELECT t.id FROM tasks t JOIN due USING (n)
               WHERE t.status IN ('pending', 'pending_approval', 'ready') AND t.status <> due.status"""
    assert board.connection.all(wrong) == []
    assert status(board, "c") == "pending_approval"


# the clock


def test_a_lease_ends_at_its_time_and_no_sooner(path: str) -> None:
    turned = Turned()
    board = open_board(path, clock=turned.clock)
    add(board, "t")
    claim(board, lease=60.0)
    assert known(board, "t").lease_until == "2027-01-15T08:01:00Z"

    turned.at += 59.9
    assert board.sweep() == []
    assert known(board, "t").lease_until == "2027-01-15T08:00:00Z"
    turned.at += 0.1
    assert board.sweep() == ["t"]
    board.close()


def test_a_note_gives_as_long_again(path: str) -> None:
    turned = Turned()
    board = open_board(path, clock=turned.clock)
    add(board, "t")
    held = claim(board, lease=60.0)

    turned.at += 50
    board.note("t", "ann", "observation", "x")
    turned.at += 50
    assert board.sweep() == []
    board.beat(held, 5.0)
    turned.at += 6
    assert board.sweep() == ["t"]
    board.close()


def test_a_reboot_ends_all_leases(path: str) -> None:
    """The clock begins anew, and may well be before what it was."""
    turned = Turned()
    board = open_board(path, clock=turned.clock)
    for id in "ab":
        add(board, id)
    first, second = claim(board), claim(board)
    turned.at, turned.boot = 1.0, "second"
    assert known(board, "a").lease_until == "2027-01-15T08:00:00Z"

    board.beat(first, 60.0)

    assert board.sweep() == ["b"]
    with pytest.raises(IbError):
        board.done([second])
    assert board.done([Fence("a", "ann", 1)])[0].status == "done"
    board.close()


def test_the_boot_is_the_same_for_all() -> None:
    assert len(boot_id()) > 8
    assert Child(boot_id).result() == boot_id()


# the gate and the bells


def test_a_reader_waits_for_no_writer(board: SqliteBoard, path: str) -> None:
    add(board, "t")
    with board.connection.gate:
        other = open_board(path)
        assert other.task("t") is not None
        assert other.sweep() == []
        assert other.last_seq() == 1
        other.close()


def test_an_error_within_leaves_the_gate_open(board: SqliteBoard, path: str) -> None:
    def interrupted() -> None:
        with board.connection.change() as sql:
            sql.execute("INSERT INTO events (channel, ts) VALUES ('x', 'x')")
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            interrupted()

    with open_again(path) as other:
        add(other, "t")
    add(board, "u")
    assert told(board) == ["task_ready t", "task_ready u"]


def test_nothing_that_changed_nothing_rings(board: SqliteBoard) -> None:
    add(board, "t")
    bell = board.doorbell()

    board.sweep()
    board.tasks()
    with pytest.raises(IbError):
        board.approve("nobody", "me")
    assert not bell.wait(0)
    claim(board)
    assert bell.wait(0)
    assert board.claim(ANY, Claimer("bob")) == []
    assert not bell.wait(0)
    assert bell.fileno() >= 0
    bell.close()


def test_where_no_bell_can_be_hung_the_waiter_looks_by_itself(tmp_path: Path, path: str) -> None:
    (tmp_path / "board-bells").write_text("in the way")
    board, other = open_board(path), open_board(path)
    bell = board.doorbell()
    assert bell.fileno() == -1
    assert not bell.wait(0)

    add(other, "t")
    assert bell.wait(20)
    add(board, "u")
    assert bell.wait(20)
    assert not bell.wait(0)
    bell.close()
    other.close()
    board.close()


def test_whatever_file_operation_fails_a_task_is_added_or_it_is_not(board: SqliteBoard, faults: Faults) -> None:
    """And who was refused can try again: the gate is open."""
    for number in itertools.count(1):
        faults.arm(number, errno.ENOSPC)
        try:
            add(board, f"t{number}")
            added = True
        except IbError:
            added = False
        faults.disarm()
        assert (board.task(f"t{number}") is not None) == added
        if faults.seen < number:
            break
    assert number > 5


def test_it_needs_no_more_than_the_standard_library_has() -> None:
    """The oldest SQLite that may be met knows what the schema and the statements use."""
    assert sqlite3.sqlite_version_info >= schema.OLDEST
    folder = Path(schema.FOLDER)
    texts = "\n".join(path.read_text() for path in [*folder.glob("*.sql"), *folder.glob("*.py")])
    assert not re.search(r"\bRETURNING\b|\bSTRICT\b|->>", texts)
