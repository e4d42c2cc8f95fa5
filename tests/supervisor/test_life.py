"""The supervisor as a process: started by whoever needs it, one at a time, ended by its lock's holder alone."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from bench import start
from ibstatus.project import logs, paths, supervisor_process
from ibstatus.system import locks
from tests.conftest import Done, git, make_repo
from tests.supervisor.conftest import fleet_member, node_of
from tests.until import until

AUTO = {"IB_SUPERVISOR": ""}


@pytest.fixture
def clean(repo: paths.Place) -> Iterator[None]:
    """Whatever the test starts is ended with it."""
    yield
    start.end(repo)


def snapshot(place: paths.Place) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(Path(place.home, "status.json").read_text())
    except FileNotFoundError:
        return {}
    return found


def starts(place: paths.Place) -> tuple[float, int]:
    """When the last start was, how many did not come up; by its lock, as it is written in two steps."""
    with locks.Lock(place.lock(supervisor_process.START)) as lock:
        return supervisor_process.tries(lock)


def test_a_command_that_changes_something_starts_it(ib: Callable[..., Done], repo: paths.Place, clean: None) -> None:
    ib("init")
    done = ib("send", "user-claude", "? hello", env=AUTO)
    assert done.code == 0

    until(lambda: snapshot(repo).get("messages"))
    until(lambda: (node_of(repo) or {}).get("messages"))
    process = supervisor_process.holder(repo)
    assert process is not None
    assert process.cwd() == "/"
    assert process.terminal() is None
    assert Path(supervisor_process.pid_file_of(repo)).read_text() == f"{process.pid}\n"


def test_it_inherits_nothing(ib: Callable[..., Done], repo: paths.Place, clean: None) -> None:
    ib("init")
    reader, writer = os.pipe()
    env = {**os.environ, **AUTO, "CLAUDE_CODE_SESSION_ID": "s1", "SECRET_TOKEN": "x"}
    subprocess.run(
        [sys.executable, "-m", "ibstatus", "send", "user", "hi"], cwd=repo.root, env=env, pass_fds=[writer], check=True
    )
    os.close(writer)

    assert os.read(reader, 1) == b""  # nobody holds the other end any more
    until(lambda: supervisor_process.holder(repo) is not None)
    process = supervisor_process.holder(repo)
    assert process is not None
    assert not {"CLAUDE_CODE_SESSION_ID", "SECRET_TOKEN"} & set(process.environ())


def test_without_agents_a_look_starts_nothing(ib: Callable[..., Done], repo: paths.Place, clean: None) -> None:
    ib("init")
    ib("list", env=AUTO)
    assert not start.alive(repo)

    fleet_member(repo, "lead", 1_700_000_000)
    ib("list", env=AUTO)
    until(lambda: supervisor_process.is_running(repo))


def test_it_can_be_forbidden(ib: Callable[..., Done], repo: paths.Place, clean: None) -> None:
    ib("send", "user-claude", "? hello", env={"IB_SUPERVISOR": "off"})

    assert not start.alive(repo)


def test_a_second_one_says_who_runs(ib: Callable[..., Done], repo: paths.Place, clean: None) -> None:
    ib("send", "user-claude", "? hello", env=AUTO)
    until(lambda: supervisor_process.holder(repo) is not None)

    done = ib("status-watchdog")

    process = supervisor_process.holder(repo)
    assert process is not None
    assert (done.code, done.out) == (0, "")
    assert done.err == f"A supervisor runs already (PID {process.pid}).\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly(number: int, ib: Callable[..., Done], repo: paths.Place, clean: None) -> None:
    ib("send", "user-claude", "? hello", env=AUTO)
    until(lambda: snapshot(repo).get("messages"))
    process = supervisor_process.holder(repo)
    assert process is not None
    process.send_signal(number)

    until(lambda: not start.alive(repo))
    assert not Path(supervisor_process.pid_file_of(repo)).exists()
    assert "Supervisor stopped: SIG" in Path(supervisor_process.log_of(repo)).read_text()


def test_one_whose_repository_is_gone_leaves_nothing_in_the_next(
    ib: Callable[..., Done], repo: paths.Place, clean: None
) -> None:
    """It could be committed there."""
    ib("send", "user-claude", "? hello", env=AUTO)
    until(lambda: snapshot(repo).get("messages"))
    until(lambda: starts(repo)[1] == 0)
    process = supervisor_process.holder(repo)
    assert process is not None
    moved = Path(repo.root).rename(repo.root + "-moved")
    make_repo(Path(repo.root))
    (moved / ".ittybitty/user-messages.json").touch()  # it watches the folder, whatever that is called now

    until(lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE)
    assert not Path(repo.home).exists()


def test_many_starters_make_one(repo: paths.Place, clean: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IB_SUPERVISOR")
    fleet_member(repo, "lead", 1_700_000_000)

    assert all(start.one(repo) for _ in range(5))


def test_a_killed_one_is_back_with_a_later_command(ib: Callable[..., Done], repo: paths.Place, clean: None) -> None:
    fleet_member(repo, "lead", 1_700_000_000)
    ib("list", env=AUTO)
    until(lambda: snapshot(repo))
    until(lambda: starts(repo)[1] == 0)  # it has come up
    assert 0 <= time.time() - starts(repo)[0] < 120
    first = supervisor_process.holder(repo)
    assert first is not None
    first.kill()
    until(lambda: not supervisor_process.is_running(repo))

    Path(repo.lock(supervisor_process.START)).write_text(
        f"{time.time()} 0\n"
    )  # as if it had not been longer until here
    ib("list", env=AUTO)
    assert not supervisor_process.is_running(repo)  # one try in five seconds

    Path(repo.lock(supervisor_process.START)).write_text(f"{time.time() - 6} 0\n")
    ib("list", env=AUTO)
    until(lambda: (found := supervisor_process.holder(repo)) is not None and found.pid != first.pid)


def test_starts_that_fail_come_further_apart(repo: paths.Place, monkeypatch: pytest.MonkeyPatch, clean: None) -> None:
    monkeypatch.delenv("IB_SUPERVISOR")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    Path(repo.home, "locks").mkdir(parents=True)
    record = Path(repo.lock(supervisor_process.START))

    for failures in range(4):
        record.write_text(f"{time.time() - supervisor_process.TRY_EVERY * 2**failures + 2} {failures}\n")
        assert not supervisor_process.ensure(repo)
        record.write_text(f"{time.time() - supervisor_process.TRY_EVERY * 2**failures - 1} {failures}\n")
        until(
            lambda: supervisor_process.ensure(repo)
        )  # the last one may still hold the start lock, until it is /bin/false
        assert record.read_text().split()[1] == str(failures + 1)


def test_many_that_need_it_try_once(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The try is noted in milliseconds, rounded: the next one may come before that."""
    monkeypatch.delenv("IB_SUPERVISOR")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    Path(repo.home, "locks").mkdir(parents=True)
    Path(repo.lock(supervisor_process.START)).write_text(f"{time.time() + 0.4:.3f} 0\n")

    assert not supervisor_process.ensure(repo)


def test_a_clock_set_back_does_not_stop_the_starts(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IB_SUPERVISOR")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    Path(repo.home, "locks").mkdir(parents=True)
    Path(repo.lock(supervisor_process.START)).write_text(f"{time.time() + 9999} 0\n")

    assert supervisor_process.ensure(repo)


def test_stop_hits_nobody_else(repo: paths.Place) -> None:
    """The pid in the lock file belongs to somebody else by now: the holder is gone, or it is another."""
    Path(repo.home, "locks").mkdir(parents=True)
    other = subprocess.Popen(["sleep", "60"])
    try:
        Path(repo.lock(supervisor_process.LOCK)).write_text(
            f"{other.pid} {psutil.Process(other.pid).create_time() - 50:.2f}\n"
        )
        assert supervisor_process.holder(repo) is None
        assert supervisor_process.stop(repo)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_uninstall_ends_it(ib: Callable[..., Done], repo: paths.Place, clean: None) -> None:
    ib("init")
    before = git(repo.root, "status", "--porcelain")
    ib("send", "user-claude", "? hello", env=AUTO)
    until(lambda: snapshot(repo).get("messages"))

    done = ib("uninstall", "--force", "--verify")

    assert done.code == 0, done.err + done.out
    until(lambda: not start.alive(repo))  # it gives its lock back, and then it ends
    assert before == ""
    assert not Path(repo.root, "CLAUDE.md").exists()


def test_git_clean_under_it(ib: Callable[..., Done], repo: paths.Place, clean: None) -> None:
    fleet_member(repo, "lead", 1_700_000_000)
    ib("list", env=AUTO)
    until(lambda: snapshot(repo))
    # a file may come in between git's look into a folder and its removal
    until(lambda: subprocess.run(["git", "clean", "-fdxq"], cwd=repo.root, check=False).returncode == 0)

    ib("send", "user-claude", "? anybody there", env=AUTO)
    until(lambda: snapshot(repo).get("messages") and locks.is_held(repo.lock(supervisor_process.LOCK)))
    until(lambda: len(start.alive(repo)) == 1)


def test_after_git_clean_it_hears_at_once(ib: Callable[..., Done], repo: paths.Place, clean: None) -> None:
    """Also where no agent was there whose folder it watched."""
    Path(repo.root, ".ittybitty.json").write_text('{"status_node": {"update_interval": 3600}}')
    git(repo.root, "add", ".ittybitty.json")
    git(repo.root, "commit", "-qm", "settings")
    for words in (("init",), ("notify", "x"), ("listen", "--timeout", "0")):
        assert ib(*words, env=AUTO).code == 0
    until(lambda: snapshot(repo))
    time.sleep(2.5)  # by then it waits for what comes
    until(lambda: subprocess.run(["git", "clean", "-fdxq"], cwd=repo.root, check=False).returncode == 0)
    until(lambda: locks.is_held(repo.lock(supervisor_process.LOCK)))

    fleet_member(repo, "lead", 1_700_000_000)
    until(lambda: snapshot(repo).get("agents"))  # it looks by itself once in an hour
    logs.note(repo, "lead", time.time(), {"kind": "agent.stopped", "who": "lead", "reason": "paused"})
    until(lambda: [one["state"] for one in snapshot(repo)["agents"]] == ["stopped"])
