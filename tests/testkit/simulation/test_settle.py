"""`ib sim` waits for the world to show what is so: whom it calls wrong, for how long, and whom it does not."""

import json
import os
from collections.abc import Callable, Iterator

import pytest

from ibstatus.project import home, paths
from ibstatus.state import snapshot
from ibstatus.testkit.simulation import observe, plan, settle
from ibstatus.testkit.simulation.settle import Settling
from ibstatus.testkit.simulation.world import World

Course = Callable[[float], str]


class Stage(World):
    """A world in which nobody runs: at each leap it publishes what `courses` say of the time since then."""

    courses: dict[str, Course]
    began = 0.0

    def poke(self) -> None:
        now = self.clock.now()
        agents = [{"id": who, "state": course(now - self.began)} for who, course in self.courses.items()]
        path = snapshot.path_of(self.place)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"agents": agents}, file)
        os.utime(path, (now, now))


@pytest.fixture
def stage(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """It leaps at every look."""
    for name, value in (("PATIENCE", 0.0), ("LESS", 0.0), ("LOOK", 0.0), ("EARLY", 1.0)):
        monkeypatch.setattr(settle, name, value)
    home.enter(repo)
    there = Stage(1)
    there.place = repo
    yield there
    there.close(keep=False)


def begun(stage: Stage, **courses: Course) -> Settling:
    stage.courses, stage.began = courses, stage.clock.now()
    found = Settling(stage, plan.Plan(tuple(map(plan.Who, courses)), ()), lambda text: None)
    found.truths = dict.fromkeys(courses, observe.Truth(observe.WAITING))
    stage.poke()
    return found


def course(first: str, *changes: tuple[float, str]) -> Course:
    """One state, and from which second on which other ones."""
    return lambda now: next((state for since, state in reversed(changes) if now >= since), first)


def test_who_is_sent_on_late_because_others_were_before_it_was_limited_all_the_time(stage: Stage) -> None:
    """Not for two minutes shown as limited, and not wrong in the turn that it then begins."""
    first = course("rate_limited", (50, "waiting"))
    fleet = begun(stage, first=first, last=course("rate_limited", (100, "running"), (150, "waiting")))
    fleet.parked = {"first": 0.0, "last": 0.0}

    fleet.settle()

    assert fleet.record.wrong == []
    assert fleet.given_up == {}
    assert [one.who for one in fleet.record.limits if one.resumed is not None] == ["first", "last"]


def test_a_state_is_wrong_for_a_minute_also_when_it_is_right_before_we_give_up(stage: Stage) -> None:
    fleet = begun(stage, a=course("running", (65, "waiting")))

    fleet.settle()

    assert [(one.who, one.wanted, one.shown) for one in fleet.record.wrong] == [("a", "waiting", "running")]
    assert 60 < fleet.record.wrong[0].seconds < 70
    assert fleet.given_up == {}


def test_a_limit_of_one_hides_no_wrong_state_of_another(stage: Stage) -> None:
    limited = course("rate_limited", (300, "waiting"))
    fleet = begun(stage, limited=limited, wrong=course("running", (200, "waiting")))
    fleet.parked = {"limited": 0.0}

    fleet.settle()

    assert [one.who for one in fleet.record.wrong] == ["wrong"]


def test_short_turns_one_after_the_other_are_no_wrong_state(stage: Stage) -> None:
    """Each is over within a leap; together they take longer than a minute."""
    turns = course("waiting", (15, "running"), (35, "waiting"), (55, "running"), (75, "waiting"))
    fleet = begun(stage, busy=turns, late=course("running", (85, "waiting")))

    fleet.settle()

    assert [one.who for one in fleet.record.wrong] == ["late"]


def test_who_is_never_right_is_given_up_and_looked_at_again_when_something_else_is_so(stage: Stage) -> None:
    fleet = begun(stage, a=course("running"))
    fleet.settle()

    assert [one.who for one in fleet.record.wrong] == ["a"]
    assert fleet.record.wrong[0].seconds > settle.MINUTE
    fleet.settle()
    assert len(fleet.record.wrong) == 1
    fleet.truths["a"] = observe.DONE
    fleet.settle()
    assert [one.wanted for one in fleet.record.wrong] == ["waiting", "complete"]
