"""When the supervisor nudges, on a clock that the test turns: the agents are made up, what is written is real."""

import errno
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from ibstatus.errors import DiskError
from ibstatus.mail import inbox
from ibstatus.model.clock import Clock
from ibstatus.model.fleet import Agent
from ibstatus.project import home, operations, paths
from ibstatus.state.rules import notices
from ibstatus.supervisor.care import Caring
from ibstatus.supervisor.log import Log
from tests.conftest import make_agent
from tests.living import Living
from tests.supervisor.test_caring import Turned, start  # noqa: F401
from tests.supervisor.test_noticing import WALL, told
from tests.until import until


def agent(state: str, since: float, reason: str = "", said: str = "", **more: object) -> Agent:
    return Agent("w1", state, "1m", "task", reason=reason, since=WALL + since, source="hooks", said=said, **more)  # type: ignore[arg-type]


def silent(since: float, said: str = "hm", **more: object) -> Agent:
    return agent("waiting", since, "input", said, silent=True, **more)


class Days:
    """`wall` may be set; what is written is read at once by whom it is for, unless `keeps`."""

    def __init__(self, place: paths.Place) -> None:
        home.enter(place)
        make_agent(place, "w1")
        self.place = place
        self.path = Path(inbox.path_of(place, "w1"))
        self.mono, self.wall, self.letters = 0.0, WALL, 0
        self.begin()

    def begin(self) -> None:
        """Another supervisor."""
        self.caring = Caring(self.place, Log(self.place.home + "/log"))

    def run(self, seconds: float, who: Agent) -> None:
        end = self.mono + seconds
        while self.mono < end:
            self.mono, self.wall = self.mono + 5, self.wall + 5
            self.caring.look([who], Clock(self.mono, self.mono, self.wall))
            self.caring.errands.wait()
            self.read()

    def read(self) -> None:
        if self.path.exists():
            lines = self.path.read_text().splitlines()
            assert {json.loads(line)["msg"] for line in lines} <= {notices.LETTER}
            self.letters += len(lines)
            self.path.unlink()

    def given(self) -> int:
        """Since it was asked last."""
        found, self.letters = self.letters, 0
        return found


@pytest.fixture
def days(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> Days:
    made = Days(repo)
    monkeypatch.setattr(time, "time", lambda: made.wall)
    return made


@pytest.mark.parametrize("count", [1, 5])
def test_another_of_its_name_is_nudged_and_told_of_anew(repo: paths.Place, days: Days, count: int) -> None:
    """The first one was removed, and the second one begun, while no supervisor ran."""
    for number in range(count):
        days.run(60 * 2**number + 30, silent(0, created=WALL - 9))
    assert days.given() == count
    days.begin()
    new = {"created": days.wall + 5}

    days.run(20, agent("running", days.mono + 8, **new))
    days.run(100, silent(days.mono, "I am new", **new))

    assert told(repo)[-1] == "Manager w1 is waiting: I am new"
    assert days.given() == 1


@pytest.mark.parametrize("back", [0, 3000])
def test_a_clock_that_was_set_back_makes_no_end_one_of_a_nudge(repo: paths.Place, days: Days, back: int) -> None:
    for number in range(5):
        days.run(60 * 2**number + 30, silent(days.wall - WALL, f"hm {number}"))
        days.run(20, agent("running", days.wall - WALL))
    assert days.given() == 5
    days.wall -= back
    days.run(20, silent(days.wall - WALL, "of the fifth"))
    days.run(20, agent("running", days.wall - WALL))  # people ask
    before = len(told(repo))

    days.run(100, silent(days.wall - WALL, "well"))

    assert days.given() == 1
    assert len(told(repo)) == before + 1


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("error", [FULL, DiskError("It cannot be written")], ids=["at once", "half written"])
def test_a_full_disk_is_no_nudge(days: Days, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def full(*given: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(inbox, "put", full)
        days.run(3000, silent(0))

    days.run(100, silent(0))

    assert days.given() == 1


def test_nobody_is_nudged_who_is_being_paused_or_closed(repo: paths.Place, days: Days) -> None:
    days.run(10, silent(0))
    with operations.begin(repo, "pause", "w1"):
        days.run(200, silent(0))
        assert days.given() == 0


def test_a_look_that_sees_it_otherwise_does_not_make_it_forget_what_was_told(repo: paths.Place, days: Days) -> None:
    days.run(10, silent(0))
    Path(repo.agent_dir("w1"), "inbox.cursor").write_text("0 0 x")  # its voice has spoken
    days.run(40, silent(0))
    days.run(5, replace(silent(0), source="screen", silent=False))

    days.run(30, silent(0))

    assert days.given() == 0


def test_a_compaction_ends_no_silence(repo: paths.Place, start: Callable[[str], Living]) -> None:  # noqa: F811
    Path(repo.root, ".ittybitty.json").write_text('{"autoCompactThreshold": 80}')
    living = start("say hm\nend well\nsay so\nend again\n")
    living.submit("go")
    turned = Turned(repo)
    turned.until(lambda agent: agent.state == "waiting" and agent.silent)
    living.idle()
    path = living.fill()
    turned.look(5)
    until(lambda: b"compact_boundary" in path.read_bytes())
    living.idle()
    turned.until(lambda agent: agent.state == "waiting")

    turned.look(31)
    turned.look(31)

    letters = Path(inbox.path_of(repo, "w1")).read_text().splitlines()
    assert [json.loads(line)["msg"] for line in letters] == [notices.LETTER]
    assert len([text for text in told(repo) if "well" in text]) == 1
