"""Which processes of a pane count: the client and what starts it, never a tool that it runs."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ibstatus.system.process import status
from tests.until import until

SHELL = "sleep 1000; true"  # it stays, and waits for what it runs
OTHER_SESSION = "import os, time\nif os.fork() == 0: os.setsid()\ntime.sleep(1000)"


@contextmanager
def running(*argv: str) -> Iterator[tuple[int, int]]:
    """(the program of a pane, what it runs)."""
    process = subprocess.Popen(argv, start_new_session=True)
    try:
        until(lambda: status.children_of(process.pid))
        (child,) = status.children_of(process.pid)
        yield process.pid, child
    finally:
        for pid in (*status.children_of(process.pid), process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait()


def test_a_client_under_a_shell_is_stopped_without_it() -> None:
    with running("sh", "-c", SHELL) as (shell, client):
        assert status.look(shell) == (False, False)
        os.kill(client, signal.SIGSTOP)
        until(lambda: status.look(shell) == (True, False))
        os.kill(client, signal.SIGCONT)
        until(lambda: status.look(shell) == (False, False))


def test_a_tool_that_is_stopped_is_not_its_client() -> None:
    with running(sys.executable, "-c", OTHER_SESSION) as (client, tool):
        until(lambda: os.getsid(tool) == tool)
        os.kill(tool, signal.SIGSTOP)
        until(lambda: status.status_of(tool) == "T")
        assert status.look(client) == (False, False)
        os.kill(client, signal.SIGSTOP)
        until(lambda: status.look(client) == (True, False))


def test_who_cannot_be_asked_for_one_thing_is_for_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(pid: int) -> list[bytes]:
        raise PermissionError

    monkeypatch.setattr(status, "words_of", refused)
    with running("sh", "-c", SHELL) as (shell, client):
        os.kill(client, signal.SIGSTOP)
        until(lambda: status.look(shell) == (True, False))


def test_nobody_is_not_stopped() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
        assert status.look(process.pid) == (False, False)
