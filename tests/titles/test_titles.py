"""Windows that get their names back when titles are switched off: those of one repository, and no other one."""

import json
import os
import posix
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.project import paths
from ibstatus.titles import pane_files, titles
from tests.conftest import Done, git, make_agent, make_repo
from tests.hooks.title_panes import Server, Session
from tests.until import until


@pytest.fixture
def server(tmux: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server(tmux, tmp_path)
    monkeypatch.setitem(posix.environ, b"HOME", os.fsencode(made.home))  # what our own process reads
    return made


@pytest.fixture
def at_work(server: Server, repo: paths.Place) -> Session:
    """A session that has done something, in the window `own`."""
    session = Session(server, server.pane(), repo.root).start().edit().stop()
    assert server.name(session.pane) == "🤖✅repo"
    return session


def is_back(server: Server, pane: str, name: str = "own") -> bool:
    return (server.name(pane), server.ours(pane)) == (name, "")


def test_all_windows_of_a_repository_and_of_its_agents(
    server: Server, at_work: Session, repo: paths.Place, tmp_path: Path
) -> None:
    """Linked worktrees are of it, too; a repository within it is another one."""
    git(repo.root, "worktree", "add", "-q", "-b", "aside", str(tmp_path / "aside"))
    theirs = [make_agent(repo, "w1"), tmp_path / "aside"]
    others = [Path(make_repo(tmp_path / "other").root), Path(make_repo(Path(repo.root, "vendor")).root), tmp_path]
    panes = [server.window("-n", "mine") for _ in (*theirs, *others)]
    for number, (pane, folder) in enumerate(zip(panes, (*theirs, *others), strict=True)):
        Session(server, pane, folder, f"s{number + 2}").start()
    before = [server.name(pane) for pane in panes[2:]]

    assert titles.give_back(repo.root) == 3

    assert is_back(server, at_work.pane)
    assert all(is_back(server, pane, "mine") for pane in panes[:2])
    assert [server.name(pane) for pane in panes[2:]] == before
    assert all(name.startswith("🤖✅") for name in before)
    assert titles.give_back(repo.root) == 0


def test_its_hooks_leave_the_window_alone_until_the_settings_are_read_again(server: Server, at_work: Session) -> None:
    """The client may still run the hooks that were taken away."""
    titles.give_back(at_work.project)

    at_work.edit()
    at_work.tell("SubagentStop")
    assert is_back(server, at_work.pane)
    at_work.stop()
    assert server.name(at_work.pane) == "🤖repo"
    at_work.end()
    assert is_back(server, at_work.pane)


def test_two_sessions_in_one_window_are_one_window(server: Server, at_work: Session, repo: paths.Place) -> None:
    second = server.split(at_work.pane)
    Session(server, second, repo.root, "s2").start()

    assert titles.give_back(repo.root) == 1
    assert is_back(server, at_work.pane)
    assert is_back(server, second)


def test_a_pane_that_is_gone_leaves_its_window_to_be_put_right(server: Server, at_work: Session) -> None:
    other = server.split(at_work.pane)
    server.tmux("kill-pane", "-t", at_work.pane)

    assert titles.give_back(at_work.project) == 1
    assert is_back(server, other)


def test_a_session_that_has_ended_has_nothing_to_give(server: Server, at_work: Session) -> None:
    at_work.end()
    server.tmux("rename-window", "-t", at_work.pane, "later")

    assert titles.give_back(at_work.project) == 0
    assert server.name(at_work.pane) == "later"


def test_a_server_that_is_gone_has_no_windows(server: Server, at_work: Session) -> None:
    server.tmux("kill-server")
    until(lambda: not pane_files.is_alive(int(server.pid)))

    assert titles.give_back(at_work.project) == 0


def test_a_server_that_hangs_gets_it_by_the_next_event(server: Server, at_work: Session) -> None:
    os.kill(int(server.pid), signal.SIGSTOP)
    try:
        assert titles.give_back(at_work.project) == 0
    finally:
        os.kill(int(server.pid), signal.SIGCONT)
    path = str(server.memories[0])
    with pane_files.File(path) as file:
        file.memory.tried = 0.0  # as some seconds later
        file.put()
    at_work.edit()

    assert is_back(server, at_work.pane)


@pytest.mark.parametrize("folder", ["", "\0", "relative", "/nowhere/at/all", "/" * 5000])
def test_a_memory_of_any_kind_breaks_nothing(server: Server, at_work: Session, folder: str) -> None:
    [path] = server.memories
    value = json.loads(path.read_text())
    pid = server.pid
    (path.parent / f"{pid}-77-00000000").write_text(json.dumps({**value, "folder": folder}) + "\n")
    (path.parent / f"{pid}-78-00000000").write_bytes(b"\xff{")
    (path.parent / f"{pid}-79-00000000").mkdir()
    (path.parent / "notes.txt").write_text("mine")
    (path.parent / "99999999999999999999-1-0").write_text("")

    assert titles.give_back(at_work.project) == 1
    assert is_back(server, at_work.pane)


def test_titles_off_gives_the_window_back(ib: Callable[..., Done], server: Server, repo: paths.Place) -> None:
    home = {"HOME": str(server.home)}
    assert ib("init", env=home).code == 0
    assert ib("hooks", "install", env=home).code == 0
    session = Session(server, server.pane(), repo.root)
    session.run("SessionStart.startup")
    assert server.name(session.pane) == "🤖✅repo"

    done = ib("config", "set", "tmux.titles", "off", env=home)

    assert done.code == 0
    assert "1 window has" in done.err
    assert is_back(server, session.pane)
    session.run("PostToolBatch", tool_calls=[{"tool_name": "Edit"}])
    session.run("Stop")
    assert is_back(server, session.pane)
