"""The scan of all terminals: only what changed is captured, and one that cannot be read is nobody else's trouble."""

import os
import signal
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from ibstatus.claude import client
from ibstatus.claude.screens.rules_file import Rules
from ibstatus.claude.screens.states import Shown
from ibstatus.model.clock import Clock
from ibstatus.model.fleet import Agent
from ibstatus.project import home, paths
from ibstatus.state.look import Target
from ibstatus.state.rules import screen_history
from ibstatus.supervisor import scan as scanning
from ibstatus.supervisor.log import Log
from ibstatus.supervisor.scan import Scanner
from ibstatus.system.process import status
from ibstatus.system.tmux.control_mode import Connection, Reply
from tests.patience import LONG
from tests.until import until

Tmux = Callable[..., str]


class Patient(Connection):
    """Where nothing hangs, a slow machine is waited for."""

    patience = LONG

    def ask(self, commands: Sequence[str], patience: float = 0.0) -> list[Reply] | None:
        return super().ask(commands, self.patience)


class Scan:
    """A scanner on a turned clock, with sessions in which `cat` shows what is sent to them."""

    def __init__(self, place: paths.Place, tmux: Tmux) -> None:
        self.tmux = tmux
        self.mono = 100.0
        self.scanner = Scanner(place, Log(place.home + "/log"))
        self.targets: list[Target] = []

    def clock(self) -> Clock:
        return Clock(self.mono, self.mono, 1_800_000_000 + self.mono)

    def add(self, name: str, published: str = "waiting", socket: str = "ib") -> None:
        self.tmux("-L", socket, "new-session", "-d", "-s", "ittybitty-0-" + name, "cat; exit")
        self.targets.append(Target(name, {"id": name}, socket, "ittybitty-0-" + name, is_busy=published == "running"))
        known = {one.agent: Agent(one.agent, published, "1m", "", reason="input") for one in self.targets}
        self.scanner.aim(self.targets, known)

    def tick(self, seconds: float = 2.0) -> bool:
        self.mono += seconds
        return self.scanner.tick(self.clock())

    def captured(self, ticks: int = 1) -> int:
        before = self.scanner.captured
        for _ in range(ticks):
            self.tick()
        return self.scanner.captured - before

    def rests(self) -> None:
        """Until the second of tmux is over in which somebody was drawn last: then nobody is captured any more."""
        until(lambda: self.captured() == 0)
        assert self.captured(5) == 0

    def type(self, name: str, text: str) -> None:
        """In another second than what came last: tmux's clock shows that something has come."""
        pane = f"=ittybitty-0-{name}:"
        before = self.tmux("display-message", "-p", "-t", pane, "#{window_activity}")
        until(lambda: time.time() >= int(before) + 1)
        self.tmux("send-keys", "-t", pane, text, "Enter")
        until(lambda: before != self.tmux("display-message", "-p", "-t", pane, "#{window_activity}"))

    def is_answered(self, name: str, text: str) -> bool:
        """Drawn by the terminal, and by `cat`, which may take its time."""
        return self.tmux("capture-pane", "-p", "-t", f"=ittybitty-0-{name}:").count(text) == 2

    @contextmanager
    def hanging(self, socket: str = "ib") -> Iterator[None]:
        """The server there, which is not waited for."""
        connection = self.scanner.servers[socket].connection
        assert isinstance(connection, Patient)
        pid = int(self.tmux("-L", socket, "display-message", "-p", "#{pid}"))
        os.kill(pid, signal.SIGSTOP)
        connection.patience = 0.05
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)
            connection.patience = Patient.patience


@pytest.fixture
def scan(repo: paths.Place, tmux: Tmux, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scan]:
    monkeypatch.setattr(scanning, "Connection", Patient)
    made = Scan(repo, tmux)
    yield made
    made.scanner.close()


@pytest.fixture
def screens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another kind of client, whose screens are read as these tests want it."""

    class Other:
        def with_rules(self, rules: Rules) -> "Other":
            return self

        def shown(self, text: str) -> Shown:
            if "boom" in text:
                raise ValueError("garbage")
            return Shown("running") if "busy" in text else Shown("waiting", "input", "prompt", idle=True)

    monkeypatch.setitem(client.KINDS, "other", Other())  # type: ignore[arg-type]


def other(scan: Scan) -> None:
    scan.targets = [one._replace(meta={"id": one.agent, "kind": "other"}) for one in scan.targets]
    scan.scanner.aim(scan.targets, scan.scanner.published)


def test_only_what_changed_is_captured(scan: Scan, screens: None) -> None:
    for name in ("a", "b", "c"):
        scan.add(name)
    other(scan)
    assert scan.captured() == 3
    assert scan.captured() == 3  # once more: tmux counts whole seconds
    scan.rests()
    scan.type("b", "busy")
    until(lambda: scan.is_answered("b", "busy"))
    until(lambda: scan.captured() == 1)
    scan.rests()
    assert scan.scanner.sights["b"].shown == Shown("running")
    assert scan.scanner.sights["a"].at == 1_800_000_102.0


def test_what_is_drawn_in_the_very_second_of_two_looks_is_seen(scan: Scan, screens: None) -> None:
    """In the list of panes it looks as before; and our clock, which was set ahead meanwhile, is not that of tmux."""

    def ask(what: str) -> str:
        return scan.tmux("display-message", "-p", "-t", f"=ittybitty-0-{scan.targets[-1].agent}:", what)

    def in_one_second() -> bool:
        name = f"a{len(scan.targets)}"
        scan.add(name)
        other(scan)
        scan.captured(2)
        before = ask("#{window_activity}")
        scan.tmux("send-keys", "-t", f"=ittybitty-0-{name}:", "busy", "Enter")
        until(lambda: scan.is_answered(name, "busy"))
        return before == ask("#{window_activity}")

    until(in_one_second)
    last = scan.targets[-1].agent
    assert scan.scanner.sights[last].shown != Shown("running")

    until(lambda: scan.captured() >= 0 and scan.scanner.sights[last].shown == Shown("running"))
    scan.rests()


def test_what_is_at_odds_is_looked_at_soon_and_each_time_told(scan: Scan, screens: None) -> None:
    scan.add("a", published="running")
    other(scan)
    assert scan.tick()
    assert scan.scanner.due == pytest.approx(scan.mono + 0.4)
    assert scan.tick(0.4)
    sight = scan.scanner.confirmed()["a"]
    assert sight.seen - sight.at == pytest.approx(0.4)
    assert not scan.tick(10)


def test_a_garbage_screen_is_that_agents_alone(scan: Scan, screens: None) -> None:
    scan.add("a")
    scan.add("b")
    other(scan)
    scan.type("a", "boom")
    scan.captured(3)
    assert "garbage" in scan.scanner.sights["a"].note
    assert scan.scanner.sights["b"].shown is not None


def test_ended_and_never_there(scan: Scan, screens: None) -> None:
    scan.add("a")
    scan.add("b")
    other(scan)
    scan.tick()
    scan.tmux("kill-session", "-t", "=ittybitty-0-a")
    until(scan.tick)
    assert [scan.scanner.sights[name].there for name in ("a", "b")] == [False, True]
    scan.tmux("kill-session", "-t", "=ittybitty-0-b")
    until(lambda: scan.tick() or not scan.scanner.sights["b"].there)
    until(lambda: "ib-watch" not in scan.tmux("list-sessions"))  # and keeps no server alive


def test_one_socket_that_hangs_stops_no_other(scan: Scan, screens: None) -> None:
    scan.add("a")
    scan.add("b", socket="two")
    other(scan)
    scan.tick()
    try:
        with scan.hanging("two"):
            assert scan.tick()
            assert [scan.scanner.sights[name].there for name in ("a", "b")] == [True, None]
            assert "not answered" in scan.scanner.sights["b"].note
    finally:
        scan.tmux("-L", "two", "kill-server")


def test_a_hang_that_lasts_is_told_once_more(scan: Scan, screens: None) -> None:
    """First what is seen changes, then that nobody sees it: without a second word no look would be due."""
    scan.add("a")
    other(scan)
    scan.rests()
    with scan.hanging():
        told = [scan.tick(0.9) for _ in range(5)]

    assert told == [True, False, False, True, False]
    until(scan.tick)
    assert scan.scanner.sights["a"].there


def test_a_stopped_client_is_seen(scan: Scan, screens: None) -> None:
    scan.add("a", published="running")
    other(scan)
    scan.tick()
    scan.tick(5)
    shell = psutil.Process(int(scan.tmux("display-message", "-p", "-t", "=ittybitty-0-a:", "#{pane_pid}")))
    until(shell.children)
    shell.children()[0].suspend()  # the shell itself tmux would wake at once
    until(lambda: scan.tick(6) or scan.scanner.sights["a"].suspended)
    assert scan.scanner.sights["a"].suspended


def test_a_stopped_client_at_rest_is_seen(scan: Scan, screens: None) -> None:
    scan.add("a")
    other(scan)
    scan.captured(4)
    shell = psutil.Process(int(scan.tmux("display-message", "-p", "-t", "=ittybitty-0-a:", "#{pane_pid}")))
    until(shell.children)
    shell.children()[0].suspend()
    until(lambda: scan.tick() and scan.scanner.sights["a"].suspended)
    shell.children()[0].resume()
    until(lambda: scan.tick() and not scan.scanner.sights["a"].suspended)


def test_a_launcher_without_its_client_is_seen(scan: Scan, screens: None, tmp_path: Path) -> None:
    script = tmp_path / "start.sh"
    script.write_text("cat\nread forever\n")
    scan.tmux("-L", "ib", "new-session", "-d", "-s", "ittybitty-0-a", f"/bin/sh {script}")
    scan.targets.append(Target("a", {"id": "a"}, "ib", "ittybitty-0-a", is_busy=True))
    scan.scanner.aim(scan.targets, {"a": Agent("a", "running", "1m", "")})
    other(scan)
    shell = psutil.Process(int(scan.tmux("display-message", "-p", "-t", "=ittybitty-0-a:", "#{pane_pid}")))
    until(shell.children)
    scan.captured(4)
    assert not scan.scanner.sights["a"].gone

    shell.children()[0].kill()

    until(lambda: scan.tick() and scan.scanner.sights["a"].gone)


def test_who_begins_to_work_brings_the_next_tick_forward(scan: Scan, screens: None) -> None:
    scan.add("a")
    other(scan)
    scan.rests()
    assert scan.scanner.due == pytest.approx(scan.mono + screen_history.CALM)
    now = scan.clock()

    scan.scanner.follow({"a": Agent("a", "running", "1m", "", since=now.wall)}, now)

    assert scan.scanner.due == pytest.approx(scan.mono + screen_history.SOON)


def test_the_users_rules_about_screens_count_as_soon_as_they_are_there(scan: Scan) -> None:
    scan.add("a")
    scan.type("a", "strange words")
    scan.captured(3)
    shown = scan.scanner.sights["a"].shown
    assert shown is not None
    assert shown.state == "unknown"

    rule = '[[rule]]\nname = "mine"\nstate = "waiting"\nreason = "login"\nmatch = "strange words"\n'
    home.enter(scan.scanner.place)
    Path(scan.scanner.place.home, "screens.toml").write_text(rule)
    scan.scanner.aim(scan.targets, scan.scanner.published)
    scan.captured(2)

    shown = scan.scanner.sights["a"].shown
    assert shown is not None
    assert (shown.state, shown.reason, shown.rule) == ("waiting", "login", "mine")


def test_memory_is_flat_and_a_quiet_tick_touches_no_file(scan: Scan, screens: None, faults: Any) -> None:
    for name in ("a", "b", "c"):
        scan.add(name)
    other(scan)
    scan.rests()
    scan.captured(50)
    faults.arm(0)
    tracemalloc.start()
    try:
        scan.captured(200)
        before = tracemalloc.get_traced_memory()[0]
        assert scan.captured(2000) == 0
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 20_000
    assert faults.seen == 0


def test_one_at_rest_that_stops_right_after_it_has_drawn_is_seen_at_the_first_look(scan: Scan, screens: None) -> None:
    scan.add("a", published="waiting")
    shell = psutil.Process(int(scan.tmux("display-message", "-p", "-t", "=ittybitty-0-a:", "#{pane_pid}")))
    until(shell.children)
    shell.children()[0].suspend()
    until(lambda: status.status_of(shell.children()[0].pid) == "T")
    other(scan)

    assert scan.tick()

    assert scan.scanner.sights["a"].suspended


@pytest.mark.parametrize("published", ["running", "waiting"])
def test_a_stopped_client_stays_so_when_something_is_drawn(scan: Scan, screens: None, published: str) -> None:
    """The terminal echoes what a person types; told twice, it would be two episodes."""
    scan.add("a", published=published)
    other(scan)
    shell = psutil.Process(int(scan.tmux("display-message", "-p", "-t", "=ittybitty-0-a:", "#{pane_pid}")))
    until(shell.children)
    shell.children()[0].suspend()
    until(lambda: scan.tick(6) and scan.scanner.sights["a"].suspended)

    for text in ("x", "y"):
        scan.type("a", text)
        before = scan.scanner.captured
        for _ in range(4):
            scan.tick(0.1)
            assert scan.scanner.sights["a"].suspended
        assert scan.scanner.captured > before
    shell.children()[0].resume()
    until(lambda: scan.tick() and not scan.scanner.sights["a"].suspended)


def test_after_sleep_everything_is_captured_again(scan: Scan, screens: None) -> None:
    scan.add("a")
    other(scan)
    scan.rests()
    scan.scanner.forget()
    assert scan.captured() == 1


def test_after_a_hang_every_screen_is_seen_again(scan: Scan, screens: None) -> None:
    scan.add("a", published="running")
    other(scan)
    until(lambda: not scan.captured())
    with scan.hanging():
        assert scan.tick()
        assert scan.scanner.sights["a"].there is None

    until(lambda: scan.tick() and scan.scanner.sights["a"].there)
    assert scan.scanner.sights["a"].shown is not None


def test_a_split_that_outlives_the_pane_of_an_agent_is_not_the_agent(scan: Scan, screens: None) -> None:
    scan.add("a")
    scan.add("b")
    scan.tmux("set-option", "-p", "-t", "=ittybitty-0-b:", "@ib_session", "ittybitty-0-b")
    other(scan)
    scan.targets = [one._replace(is_ours=True, meta={**one.meta, "started": 1.0}) for one in scan.targets]
    scan.scanner.aim(scan.targets, scan.scanner.published)
    scan.tick()
    assert [scan.scanner.sights[name].there for name in ("a", "b")] == [False, True]


def test_one_that_cannot_be_looked_at_hides_nobody(scan: Scan, screens: None) -> None:
    scan.add("a")
    scan.add("b")
    other(scan)
    scan.targets[0] = scan.targets[0]._replace(is_ours=True, meta=None)  # type: ignore[arg-type]
    scan.scanner.aim(scan.targets, scan.scanner.published)
    scan.tick()
    assert scan.scanner.sights["b"].shown is not None
    assert "scan of a" in scan.scanner.log.standing


def test_a_sight_is_as_old_as_what_confirms_it(scan: Scan, screens: None) -> None:
    """Drawn once more within the second of its capture, it would look just the same in a list."""
    scan.add("a", published="waiting")
    scan.tick()
    seen = scan.scanner.confirmed()["a"].seen
    scan.mono += 1.5

    assert scan.scanner.confirmed()["a"].seen == seen
    scan.tick()
    assert scan.scanner.confirmed()["a"].seen > seen
