"""Where the demo plays: a throw-away repository, a tmux of its own, agents that the stand-in for Claude Code plays."""

import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.project import paths, supervisor_process
from ibstatus.system.process import run

PRIMARY = {"CLAUDE_CODE_SESSION_ID": "demo"}
SOCKET = "ib"  # the default; TMUX_TMPDIR makes it ours alone
PATIENCE = 30.0


class Line(NamedTuple):
    """One line of the show: `say` explains, `run` is a command (by `who`), `out` is what it printed."""

    kind: str
    text: str
    who: str = ""


class Stage:
    """How things are run in it. `folder` is the throw-away HOME, `root` the repository."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(folder)
        self.root = self.folder + "/shop"
        self.sockets = tempfile.mkdtemp(prefix="ib-demo-", dir="/tmp")  # a socket's path must be short
        self.env = {
            **run.apart(self.folder),
            "TMUX_TMPDIR": self.sockets,
            "IB_CLAUDE": self.folder + "/bin/claude",
            "FAKE_CLAUDE_SCRIPT": self.folder + "/scripts",
            "PATH": f"{self.folder}/bin:{os.environ.get('PATH', os.defpath)}",
        }
        os.mkdir(self.root)
        os.mkdir(self.folder + "/bin")
        os.mkdir(self.folder + "/scripts")
        self.program("claude", "ibstatus.testkit.fake_claude")
        self.program("ib", "ibstatus")

    def program(self, name: str, module: str) -> None:
        """This very installation under its own name, whatever is on PATH."""
        path = f"{self.folder}/bin/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m {module} "$@"\n')
        os.chmod(path, 0o755)

    def plays(self, agent: str, script: str) -> None:
        with open(f"{self.folder}/scripts/{agent}", "w", encoding="utf-8") as file:
            file.write(script)

    def quiet(self, *argv: str) -> str:
        done = run.run(list(argv), self.root, {**self.env, **PRIMARY})
        if done.code:
            raise IbError(f"The demo stopped at: {shlex.join(argv)}", cause=(done.err or done.out).strip())
        return done.out

    def run(self, *argv: str) -> Iterator[Line]:
        """Show a command of the primary and what it prints."""
        yield Line("run", " ".join(quoted(word) for word in argv), "primary")
        done = run.run(list(argv), self.root, {**self.env, **PRIMARY})
        for text in (done.err + done.out).splitlines():  # its progress, then its result
            yield Line("out", text)
        if done.code:
            raise IbError(f"The demo stopped at: {shlex.join(argv)}", cause=done.err.strip())

    def wait(self, there: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not there():
            if time.monotonic() > deadline:
                raise IbError(otherwise, hint="ib doctor")
            time.sleep(0.02)

    def close(self) -> None:
        place = paths.find(self.root)
        try:
            run.run(["tmux", "-L", SOCKET, "kill-server"], self.root, self.env)
        except OSError:
            pass
        supervisor_process.stop(place)
        shutil.rmtree(self.sockets, ignore_errors=True)


def quoted(word: str) -> str:
    """As a person would type it."""
    return f'"{word}"' if " " in word or not word else word
