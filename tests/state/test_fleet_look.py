"""A command's own look at the fleet: two processes for all terminals, and nobody hides the others."""

import json
import os
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.claude import sessions
from ibstatus.model.fleet import Agent
from ibstatus.project import agent_meta as files
from ibstatus.project import paths
from ibstatus.state import fleet, hook_history, look
from ibstatus.state.rules import fleet as rule
from ibstatus.supervisor import watch_files
from ibstatus.system.process import status
from tests.until import until

Tmux = Callable[..., str]


def made(place: paths.Place, tmux: Tmux, name: str) -> None:
    folder = Path(place.agent_dir(name))
    folder.mkdir(parents=True)
    session = f"ittybitty-0-{name}"
    (folder / "meta.json").write_text(json.dumps({"id": name, "tmux_session": session}))
    tmux("new-session", "-d", "-s", session, "exec cat")


def test_two_processes_whatever_the_number(
    repo: paths.Place, tmux: Tmux, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(7):
        made(repo, tmux, f"a{number}")
    calls, fake = tmp_path / "calls", tmp_path / "bin" / "tmux"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho x >> {calls}\nPATH="$OLD_PATH"; export PATH; exec tmux "$@"\n')
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("OLD_PATH", os.environ["PATH"])
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    told = {"a6": rule.Told("complete", "", 1.0)}
    found = look.look(look.targets(repo, files.records(repo), told), 5.0)

    assert calls.read_text().split() == ["x", "x"]
    assert all(one.there for one in found.values()), found
    assert [name for name, one in sorted(found.items()) if one.shown is None] == ["a6"], found


def test_one_that_no_rule_can_take_hides_nobody(repo: paths.Place) -> None:
    good = rule.Known("good", {"id": "good", "created_epoch": 5.0}, True, rule.Told("running", "", 10.0))
    bad = rule.Known("bad", None, True, rule.Told("running", "", 10.0))  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        rule.fleet([bad], {}, 20.0)
    found: list[Agent] = fleet.judged([good, bad], {}, 20.0)

    assert {agent.id: bool(agent.problem) for agent in found} == {"good": False, "bad": True}


def test_only_what_changed_is_read_again(repo: paths.Place, tmux: Tmux) -> None:
    made(repo, tmux, "a")
    made(repo, tmux, "b")
    records = files.Records(repo)
    first = records.read()
    assert all(one is other for one, other in zip(first, records.read(), strict=True))
    Path(repo.agent_dir("b"), "meta.json").write_text("{nope")
    assert [one.problem for one in records.read()] == ["", "meta.json is broken"]


def test_a_moved_spool_keeps_no_event_back(repo: paths.Place) -> None:
    ears = watch_files.Watching(repo)
    try:
        grouper = pytest.importorskip("watchdog.observers.inotify_move_event_grouper")
        assert grouper.InotifyMoveEventGrouper.delay == 0.0
    finally:
        ears.close()


def test_a_client_that_is_stopped_is_seen_by_a_commands_own_look(repo: paths.Place, tmux: Tmux) -> None:
    made(repo, tmux, "a")
    tmux("respawn-pane", "-k", "-t", "=ittybitty-0-a:", "cat; exit")  # one of its own it would wake up at once
    shell = int(tmux("display-message", "-p", "-t", "=ittybitty-0-a:", "#{pane_pid}"))
    until(lambda: status.children_of(shell))
    [pid] = status.children_of(shell)
    os.kill(pid, signal.SIGSTOP)
    try:
        until(lambda: fleet.look(repo, hook_history.States(repo), {}, time.time()).agents[0].reason == "suspended")
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("socket", ["a\0b", "a/b", "../x", "\n", "x" * 300, 7, "."])
def test_a_socket_that_cannot_be_is_not_asked(repo: paths.Place, socket: object) -> None:
    record = files.Record("a", {"id": "a", "tmux_socket": socket})
    [target] = look.targets(repo, [record], {})
    assert target.socket == sessions.socket_of(repo, record) == "ib"
