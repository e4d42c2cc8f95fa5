"""The supervisor wakes agents that have mail: when their state changes, else less and less often, one by one."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.mail import inbox, wake_agent
from ibstatus.model.fleet import Agent
from ibstatus.project import home, paths
from ibstatus.state import fleet, hook_history
from ibstatus.supervisor import wake
from ibstatus.supervisor.log import Log
from ibstatus.system import disk
from tests.conftest import make_agent
from tests.living import Living
from tests.until import until


class Turned:
    """Rousing on a clock that the test turns."""

    def __init__(self, place: paths.Place) -> None:
        self.place = place
        self.rousing = wake.Rousing(place, Log(place.home + "/log"))
        self.now = 1000.0

    def agents(self) -> list[Agent]:
        return fleet.look(self.place, hook_history.States(self.place), {}, time.time()).agents

    def look(self, after: float = 0.0) -> None:
        """One round, and what it began, to the end."""
        self.now += after
        self.rousing.look(self.agents(), self.now)
        if self.rousing.thread is not None:
            self.rousing.thread.join()

    def again(self) -> float | None:
        at = self.rousing.again(self.now)
        return None if at is None else at - self.now


def post(place: paths.Place, text: str) -> None:
    inbox.put(place, "cli", "w1", "lead", True, text, time.time())


@pytest.fixture
def living(repo: paths.Place, tmux: Callable[..., str], tmp_path: Path) -> Living:
    return Living(repo, tmux, tmp_path / "claude", "w1").idle()


def test_mail_wakes_an_idle_one_at_once(repo: paths.Place, living: Living) -> None:
    turned = Turned(repo)
    turned.look()
    assert turned.again() is None
    post(repo, "mail")

    turned.look()

    living.idle()
    assert living.hears("[sent by agent lead]: mail") == 1
    turned.look(1)
    assert turned.again() is None
    assert turned.rousing.waiting == {}


def test_a_draft_that_goes_away(repo: paths.Place, living: Living) -> None:
    living.type("half a thought")
    post(repo, "mail")
    turned = Turned(repo)
    waits = []
    for _ in range(8):
        turned.look()
        turned.look()
        waits.append(turned.again())
        turned.now += waits[-1] or 0
    assert waits == [10, 20, 40, 80, 160, 320, 600, 600]
    assert living.screen.draft == "half a thought"
    living.keys("C-u")
    living.idle()

    turned.look()

    living.idle()
    assert living.prompts() == ["[ib] a message for you (from lead)"]


def test_a_change_of_state_is_tried_at_once(repo: paths.Place, living: Living) -> None:
    living.type("half a thought")
    post(repo, "mail")
    turned = Turned(repo)
    turned.look()
    turned.look()
    assert turned.again() == 10
    living.keys("Enter")  # a turn, which hears the mail by itself
    until(lambda: living.has_heard("mail"))
    living.idle()

    turned.look(1)

    assert turned.again() is None
    assert living.prompts() == ["half a thought"]


def test_one_that_has_ended_costs_no_rounds(repo: paths.Place, living: Living) -> None:
    living.end()
    post(repo, "mail")
    turned = Turned(repo)
    turned.look()
    turned.look(1000)

    assert turned.again() is None
    assert turned.rousing.thread is None


def test_nothing_new_costs_one_stat_an_agent(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    home.enter(repo)
    make_agent(repo, "w1")
    turned = Turned(repo)
    post(repo, "mail")
    turned.rousing.quiet["w1"] = (wake.mark_of(repo, "w1") or (0, 0, 0), None)
    agents = turned.agents()
    asked: list[str] = []
    real_stat, real_open = disk.stat, disk.open
    monkeypatch.setattr(disk, "stat", lambda path, **more: (asked.append(path), real_stat(path, **more))[1])
    monkeypatch.setattr(
        disk, "open", lambda path, *more, **most: (asked.append(path), real_open(path, *more, **most))[1]
    )

    turned.rousing.look(agents, turned.now)

    assert asked == [inbox.path_of(repo, "w1")]


def test_a_supervisor_wakes_what_has_mail(repo: paths.Place, living: Living, machine: object) -> None:
    post(repo, "mail")

    machine.look()  # type: ignore[attr-defined]

    until(lambda: living.has_heard("[sent by agent lead]: mail") == 1)


def test_one_that_cannot_be_woken_keeps_no_other_from_its_mail(
    repo: paths.Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.enter(repo)
    woken = list[str]()
    for name in ("a", "b", "c"):
        make_agent(repo, name)
        inbox.put(repo, "cli", name, "lead", True, "mail", time.time())
    Path(repo.agent_dir("c"), "inbox.cursor").mkdir()

    def rouses(place: paths.Place, name: str, again: bool = False) -> wake_agent.Roused:
        if name == "a":
            raise ValueError("a bug of ours")
        woken.append(name)
        return wake_agent.Roused("delivered")

    monkeypatch.setattr(wake_agent, "rouse", rouses)
    one = wake.Rousing(repo, Log(repo.home + "/log"))
    agents = [Agent(name, "waiting", "1m", "task", reason="input") for name in ("c", "a", "b")]
    one.look(agents, 1000.0)
    assert one.thread is not None
    one.thread.join()

    assert woken == ["b"]
    log = Path(repo.home, "log").read_text()
    assert "the mail of c cannot be read: " in log
    assert "could not wake a: " in log
