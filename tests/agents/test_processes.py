"""list --processes and gc, with real processes that have lost their agent."""

import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from ibstatus.agents import processes
from ibstatus.errors import IbError
from ibstatus.project import agent_meta, home, operations, paths, tokens
from ibstatus.system import locks
from tests.agents.test_pause import state
from tests.until import until


@pytest.fixture
def begun() -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    known: list[subprocess.Popen[bytes]] = []

    def begin(**env: str) -> "subprocess.Popen[bytes]":
        known.append(subprocess.Popen(["sleep", "600"], env={**os.environ, **env}, start_new_session=True))
        return known[-1]

    yield begin
    for process in known:
        process.kill()
        process.wait()


def test_what_survived_its_client_is_shown_and_ended_and_nothing_else(ib, repo, tmux, fake_claude, begun) -> None:
    assert ib("new-agent", "--name", "w", "Task\n> wait").code == 0
    until(lambda: state(ib, "w") == "waiting")
    token = tokens.of(repo.token("w")).decode()
    mine = begun(IB_AGENT_ID="w", IB_AGENT_TOKEN=token)
    namesake = begun(IB_AGENT_ID="w", IB_AGENT_TOKEN="another repository's")
    known = {one["pid"]: one for one in ib("list", "--processes", "--json").json()}
    assert {one["what"] for one in known.values()} >= {"launcher", "client"}
    assert not any(one["orphan"] for one in known.values())
    assert namesake.pid not in known

    for pid, one in known.items():
        if one["what"] in ("launcher", "client"):
            with suppress(ProcessLookupError):  # it may have gone with the other one
                os.kill(pid, signal.SIGKILL)
    until(lambda: not psutil.pid_exists(next(pid for pid, one in known.items() if one["what"] == "launcher")))

    until(lambda: [one.pid for one in processes.orphans(repo)] == [mine.pid])
    assert "orphan" in ib("list", "--processes").out
    assert mine.poll() is None
    shown = ib("gc", "--json").json()
    assert [(one["kind"], one["state"]) for one in shown if one["kind"] == "process"] == [("process", "orphan")]
    assert ib("gc", "--force").code == 0
    assert mine.wait(20) == -signal.SIGTERM
    assert namesake.poll() is None


def test_a_clock_that_was_set_back_makes_no_orphans(ib, repo, tmux, fake_claude, begun) -> None:
    assert ib("new-agent", "--name", "w", "Task\n> wait").code == 0
    until(lambda: state(ib, "w") == "waiting")
    agent_meta.change(repo, "w", started=time.time() + 3600)
    mine = begun(IB_AGENT_ID="w", IB_AGENT_TOKEN=tokens.of(repo.token("w")).decode())

    assert mine.pid in [own.pid for own in processes.find(repo).owned]
    assert processes.orphans(repo) == []


def test_who_runs_a_launcher_by_hand_is_left_alone(repo: paths.Place, tmux, agent) -> None:
    home.enter(repo)
    agent(repo, "w")
    tokens.make(repo.token("w"))
    agent_meta.change(repo, "w", tmux_session="ittybitty-x-w")
    script = Path(repo.agent_dir("w"), "start.sh")
    script.write_text("sleep 600; exit\n")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv("/bin/sh", ["sh", str(script), "resume"])
    try:
        until(lambda: pid in [own.pid for own in processes.find(repo).owned])
        (own,) = [own for own in processes.find(repo).owned if own.pid == pid]
        assert (own.what, own.orphan) == ("launcher", False)
        assert "somebody may be using it" in own.why
    finally:
        os.kill(pid, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(pid, 0)


def test_one_that_is_no_orphan_any_more_is_not_ended(repo: paths.Place, tmux, agent, begun) -> None:
    home.enter(repo)
    agent(repo, "w")
    tokens.make(repo.token("w"))
    agent_meta.change(repo, "w", tmux_session="ittybitty-x-w")
    mine = begun(IB_AGENT_ID="w", IB_AGENT_TOKEN=tokens.of(repo.token("w")).decode())
    (own,) = processes.orphans(repo)

    with locks.Lock(operations.lock_of(repo, "w")), pytest.raises(IbError, match="no orphan any more"):
        processes.end(repo, own)

    assert mine.poll() is None


def test_of_an_agent_that_was_killed(ib, repo: paths.Place, tmux, agent, begun) -> None:
    home.enter(repo)
    agent(repo, "w")
    tokens.make(repo.token("w"))
    token = tokens.of(repo.token("w")).decode()
    assert ib("kill", "w", "--force").code == 0
    mine = begun(IB_AGENT_ID="w", IB_AGENT_TOKEN=token)

    (own,) = processes.orphans(repo)

    assert (own.pid, own.why) == (mine.pid, "there is no agent w any more")


def test_a_tmux_that_cannot_be_asked_makes_no_orphans(
    repo: paths.Place, agent, begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.enter(repo)
    agent(repo, "w")
    tokens.make(repo.token("w"))
    agent_meta.change(repo, "w", tmux_session="ittybitty-x-w")
    mine = begun(IB_AGENT_ID="w", IB_AGENT_TOKEN=tokens.of(repo.token("w")).decode())
    (tmp_path / "tmux").write_text("#!/bin/sh\necho strange >&2\nexit 3\n")
    (tmp_path / "tmux").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    assert [own.pid for own in processes.find(repo).owned] == [mine.pid]
    assert processes.orphans(repo) == []


def test_an_agent_made_by_hand_lives_where_ib_cannot_see_it(repo: paths.Place, tmux, agent, begun) -> None:
    home.enter(repo)
    agent(repo, "w")
    tokens.make(repo.token("w"))
    mine = begun(IB_AGENT_ID="w", IB_AGENT_TOKEN=tokens.of(repo.token("w")).decode())

    assert [(own.pid, own.orphan) for own in processes.find(repo).owned] == [(mine.pid, False)]


def test_words_that_steer_a_terminal_are_shown_harmlessly(ib, repo: paths.Place, tmux, agent, tmp_path: Path) -> None:
    home.enter(repo)
    agent(repo, "w")
    tokens.make(repo.token("w"))
    env = {**os.environ, "IB_AGENT_ID": "w", "IB_AGENT_TOKEN": tokens.of(repo.token("w")).decode()}
    name = b"\x1b[2Jevil\nname\xff"
    with subprocess.Popen([name, "600"], executable="/bin/sleep", env=env) as process:
        until(lambda: process.pid in [own.pid for own in processes.find(repo).owned])
        for locale in ("C", "C.UTF-8"):
            shown = ib("list", "--processes", env={"LC_ALL": locale})
            data = ib("list", "--processes", "--json", env={"LC_ALL": locale})
            assert (shown.code, data.code) == (0, 0), shown.err + data.err
            assert "\x1b" not in shown.out
            assert len([line for line in shown.out.splitlines() if str(process.pid) in line]) == 1
            assert [one["pid"] for one in data.json()] == [process.pid]
        process.kill()
