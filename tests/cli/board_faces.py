"""The board's commands as somebody types them: on the file of a repository, or on a server."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ibstatus.project import paths
from tests.board import postgres_server
from tests.conftest import Done, run_ib

DSN = "IB_BOARD_DSN"


class Faces:
    """`ib board …` in one repository; `env` names its board where that is a server."""

    def __init__(self, place: paths.Place, env: dict[str, str]) -> None:
        self.place = place
        self.env = env

    def __call__(self, *args: str, **more: Any) -> Done:
        env = {**self.env, **more.pop("env", {})}
        return run_ib("board", *args, cwd=more.pop("cwd", self.place.root), env=env, **more)

    def json(self, *args: str, **more: Any) -> Any:
        at = args.index("--") if "--" in args else len(args)
        done = self(*args[:at], "--json", *args[at:], **more)
        assert done.code == 0, done.err
        return json.loads(done.out)

    def add(self, title: str, *args: str, **more: Any) -> str:
        done = self("add", title, *args, **more)
        assert done.code == 0, done.err
        return done.out.strip()

    def status(self, id: str) -> str:
        return str(self.json("show", id)["status"])

    def began(self, *args: str, **more: Any) -> "Process":
        return Process(self, args, more)


class Process:
    """A command that goes on: its lines as they come, its end."""

    def __init__(self, faces: Faces, args: tuple[str, ...], more: dict[str, Any]) -> None:
        argv = [sys.executable, "-m", "ibstatus", "board", *args]
        env = {**os.environ, **faces.env, **more.pop("env", {})}
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        self.run = subprocess.Popen(argv, cwd=faces.place.root, env=env, stdin=subprocess.DEVNULL, **given)
        self.said = ""

    def line(self) -> str:
        assert self.run.stdout is not None
        return self.run.stdout.readline().decode()

    def lines(self, count: int) -> list[str]:
        return [self.line() for _ in range(count)]

    def hears(self, words: str) -> None:
        """Until it says these on stderr."""
        assert self.run.stderr is not None
        while words not in self.said:
            line = self.run.stderr.readline().decode()
            assert line, f"it ended, and said: {self.said}"
            self.said += line

    def ends(self, number: int | None = None) -> tuple[int, str, str]:
        """(exit code, what was left on stdout, everything on stderr), after this signal."""
        if number is not None:
            self.run.send_signal(number)
        out, err = self.run.communicate(timeout=60)
        return self.run.returncode, (out or b"").decode(), self.said + (err or b"").decode()

    def loses_its_reader(self) -> tuple[int, str]:
        """(exit code, what it said)."""
        assert self.run.stdout is not None
        assert self.run.stderr is not None
        self.run.stdout.close()
        with self.run.stderr as talk:
            return self.run.wait(timeout=60), self.said + talk.read().decode()

    def kill(self) -> None:
        self.run.send_signal(signal.SIGKILL)
        self.run.communicate(timeout=60)


@contextmanager
def faces_of(place: paths.Place, store: str) -> Iterator[Faces]:
    if store == "sqlite":
        yield Faces(place, {})
        return
    with postgres_server.SERVER.fresh() as dsn:
        yield Faces(place, {DSN: dsn})
