"""Only the agent that is meant is ended: client, what that has started, session. Never one with a longer name."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from ibstatus.agents import session
from ibstatus.claude import sessions
from ibstatus.project import agent_meta, home, paths
from ibstatus.system.process import user_processes
from ibstatus.system.tmux import server as driver
from tests.children import is_alive
from tests.patience import LONG
from tests.until import until

CLIENT = """
import os, signal, subprocess, sys, time
folder = sys.argv[1]
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
other = subprocess.Popen(["sleep", "600"])
def ended(*_):
    open(folder + "/ended", "w").write("said goodbye")
    sys.exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN if "deaf" in sys.argv else ended)
open(folder + "/pids", "w").write(f"{os.getpid()} {child.pid} {other.pid}\\n")
while True:
    time.sleep(600)
"""


def silent(text: str) -> None:
    pass


@pytest.fixture
def start(repo: paths.Place, tmux: Callable[..., str], agent: Callable[..., Path]) -> Callable[..., list[int]]:
    """Make an agent whose session runs a client below a start.sh; returns the pids of the client and its children."""
    home.enter(repo)

    def run(name: str, *words: str) -> list[int]:
        agent(repo, name)
        folder = Path(repo.agent_dir(name))
        (folder / "client.py").write_text(CLIENT)
        line = f'"{sys.executable}" "{folder}/client.py" "{folder}" {" ".join(words)}\n'
        (folder / "start.sh").write_text(
            f"#!/bin/sh\nIB_AGENT_ID={name}; export IB_AGENT_ID\n{line}echo $? > ended-with\n"
        )
        where = sessions.of(repo, name)
        driver.start(where.socket, where.name, str(folder / "repo"), ["/bin/sh", str(folder / "start.sh")], name)
        until(lambda: (folder / "pids").exists() and (folder / "pids").read_text().endswith("\n"))
        return [int(pid) for pid in (folder / "pids").read_text().split()]

    return run


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if is_alive(pid)]


def test_the_client_says_goodbye_and_all_of_it_is_gone(
    repo: paths.Place, start: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_processes, "PATIENCE", LONG)
    monkeypatch.setattr(user_processes, "end_processes", partial(user_processes.end_processes, launchers=3.0))
    pids = start("foo")
    said: list[str] = []

    assert session.stop(repo, "foo", said.append)

    assert alive(pids) == []
    assert Path(repo.agent_dir("foo"), "ended").read_text() == "said goodbye"
    assert Path(repo.agent_dir("foo"), "repo", "ended-with").read_text() == "0\n"
    assert said == ["Terminated Claude process", "Killed tmux session"]
    assert sessions.of(repo, "foo").pane() is None
    assert "Killed tmux session" in Path(repo.agent_dir("foo"), "agent.log").read_text()


def test_one_that_does_not_listen_is_killed(repo: paths.Place, start: Callable[..., list[int]]) -> None:
    pids = start("foo", "deaf")

    assert session.stop(repo, "foo", silent)

    assert alive(pids) == []


def test_a_longer_name_is_not_touched(
    repo: paths.Place, start: Callable[..., list[int]], agent: Callable[..., Path]
) -> None:
    pids = start("foo-bar")
    agent(repo, "foo")

    assert not session.stop(repo, "foo", silent)

    assert alive(pids) == pids
    pane = sessions.of(repo, "foo-bar").pane()
    assert pane is not None
    assert not pane.dead


def test_of_two_only_the_one(repo: paths.Place, start: Callable[..., list[int]]) -> None:
    foo, other = start("foo"), start("foo-bar")

    assert session.stop(repo, "foo", silent)

    assert alive(foo) == []
    assert alive(other) == other


def test_a_second_stop_finds_nothing(repo: paths.Place, start: Callable[..., list[int]]) -> None:
    start("foo")
    session.stop(repo, "foo", silent)

    assert not session.stop(repo, "foo", silent)


def test_without_a_server_its_strays_are_ended(
    repo: paths.Place, start: Callable[..., list[int]], tmux: Callable[..., str]
) -> None:
    pids = start("foo", "deaf")
    other = subprocess.Popen(["sleep", "600"], cwd=repo.agent_dir("foo") + "/repo")
    try:
        tmux("kill-server")
        until(lambda: sessions.of(repo, "foo").pane() is None)

        session.stop(repo, "foo", silent)

        assert alive(pids) == []
        assert alive([other.pid]) == [other.pid]  # in its folder, but not of it
    finally:
        other.kill()
        other.wait()


def test_a_stray_without_a_worktree_is_ended(repo: paths.Place, tmux: Callable[..., str]) -> None:
    home.enter(repo)
    os.makedirs(repo.agent_dir("foo"))
    agent_meta.write(repo, "foo", {"id": "foo", "worktree": False})
    env = {**os.environ, "IB_AGENT_ID": "foo"}
    with subprocess.Popen(["sleep", "600"], cwd=repo.root, env=env) as stray:
        assert session.stop(repo, "foo", silent)
        assert stray.wait() != 0


def test_a_tmux_server_that_was_started_from_its_worktree_stays_with_all_in_it(
    repo: paths.Place, start: Callable[..., list[int]], tmux: Callable[..., str]
) -> None:
    pids = start("foo")
    env = {**os.environ, "IB_AGENT_ID": "foo"}
    env.pop("TMUX", None)
    other = ["tmux", "-L", "of-a-person", "-f", os.devnull]
    subprocess.run([*other, "new-session", "-d", "sleep", "600"], cwd=repo.agent_dir("foo") + "/repo", env=env)
    try:
        shown = subprocess.run([*other, "list-panes", "-a", "-F", "#{pid} #{pane_pid}"], capture_output=True)
        theirs = [int(pid) for pid in shown.stdout.split()]

        assert session.stop(repo, "foo", silent)

        assert alive(pids) == []
        assert len(theirs) == 2
        assert alive(theirs) == theirs
    finally:
        subprocess.run([*other, "kill-server"])


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def test_a_pid_that_was_given_out_again_is_left_alone(sleeper: "subprocess.Popen[bytes]") -> None:
    known = psutil.Process(sleeper.pid)
    known._create_time = 1.0
    known._ident = (sleeper.pid, 1.0)

    assert not user_processes.end_processes([known], [known])
    assert alive([sleeper.pid]) == [sleeper.pid]


def test_nobody_ends_itself() -> None:
    assert os.getpid() not in [process.pid for process in user_processes.family(os.getpid())]
