"""Errands stand in one line, and one that types may take long: what is due no more when its turn comes is not done."""

import errno
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ibstatus.mail import inbox
from ibstatus.model.clock import Clock
from ibstatus.model.fleet import Agent
from ibstatus.project import home, paths
from ibstatus.state import fleet
from ibstatus.supervisor import limits
from ibstatus.supervisor.care import Caring
from ibstatus.supervisor.log import Log
from tests.conftest import make_agent
from tests.living import Living
from tests.supervisor.test_caring import Turned, start  # noqa: F401
from tests.supervisor.test_noticing import WALL, at
from tests.until import until


def agent(state: str, since: float, said: str = "") -> Agent:
    return Agent("w1", state, "1m", "task", since=WALL + since, source="hooks", said=said)


LIMITED = agent("rate_limited", 1, "limit reached, resets in 1 minute")


@contextmanager
def another(caring: Caring) -> Iterator[None]:
    over = threading.Event()
    caring.errands.add("another", lambda: over.wait() and None)
    try:
        yield
    finally:
        over.set()
        caring.errands.wait()


@pytest.fixture
def caring(repo: paths.Place) -> Caring:
    home.enter(repo)
    make_agent(repo, "w1")
    return Caring(repo, Log(repo.home + "/log"))


def look(caring: Caring, one: Agent, *times: float) -> None:
    for mono in times:
        caring.look([one], at(mono))


def letters(place: paths.Place) -> list[str]:
    path = Path(inbox.path_of(place, "w1"))
    return [json.loads(line)["msg"] for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize(
    "now",
    [
        [agent("complete", 115, "all is done")],
        [agent("running", 115)],
        [agent("stopped", 115)],
        [agent("running", 112), agent("rate_limited", 115, "limit reached, resets in 5 hours")],
    ],
    ids=["complete", "running", "stopped", "limited anew"],
)
def test_who_is_limited_no_more_is_not_sent_on(repo: paths.Place, caring: Caring, now: list[Agent]) -> None:
    look(caring, LIMITED, 2)
    caring.errands.wait()
    with another(caring):
        look(caring, LIMITED, 62, 85, 90, 110)
        assert "wake w1" in caring.errands.waiting
        for number, one in enumerate(now):
            look(caring, one, 120 + number)

    assert letters(repo) == []


def test_who_is_limited_still_is_sent_on(repo: paths.Place, caring: Caring) -> None:
    look(caring, LIMITED, 2)
    caring.errands.wait()
    with another(caring):
        look(caring, LIMITED, 62, 85, 90, 110)
    assert letters(repo) == [limits.LETTER]


def test_who_is_seen_as_limited_in_another_way_is_sent_on(repo: paths.Place, caring: Caring) -> None:
    look(caring, LIMITED, 2)
    caring.errands.wait()
    with another(caring):
        look(caring, LIMITED, 62, 85, 90, 110)
        look(caring, agent("rate_limited", 112, LIMITED.said), 113)
    assert letters(repo) == [limits.LETTER]


def test_it_is_sent_on_though_nobody_can_be_told_of_its_limit(
    repo: paths.Place, caring: Caring, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tell(*given: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(caring.noticing, "tell", tell)
    for mono in range(2, 150, 5):
        look(caring, LIMITED, mono)
        caring.errands.wait()
    assert letters(repo) == [limits.LETTER]


@pytest.mark.parametrize("turn", ["limit rate", "error server_error"])
def test_who_has_met_a_limit_meanwhile_is_not_compacted(
    repo: paths.Place,
    start: Callable[[str], Living],  # noqa: F811
    turn: str,
) -> None:
    Path(repo.root, ".ittybitty.json").write_text('{"autoCompactThreshold": 80}')
    living = start(f"say hm\nwait\n{turn}\nwait\n")
    living.submit("go")
    turned = Turned(repo)
    before = turned.until(lambda one: one.state == "waiting" and one.source == "hooks")
    living.idle()
    path = living.fill()
    caring = turned.caring
    caring.errands.wait()

    def now() -> Agent:
        return fleet.look(repo, turned.states, turned.before, time.time()).agents[0]

    with another(caring):
        caring.look([before], Clock(turned.now + 5, turned.now + 5, time.time()))
        assert "compact w1" in caring.errands.waiting
        living.submit("go")
        until(lambda: now().state == "rate_limited" or now().reason.startswith("error"))
        living.idle()
        caring.look([now()], Clock(turned.now + 6, turned.now + 6, time.time()))

    caring.look([now()], Clock(turned.now + 7, turned.now + 7, time.time()))
    assert b'"compact_boundary"' not in path.read_bytes()
    assert not caring.noticing.record.agents["w1"].compacted
