"""What the supervisor does and when, on a clock that the test turns."""

import pytest

from ibstatus.model.clock import Clock
from ibstatus.supervisor import schedule
from ibstatus.supervisor.schedule import Fleet, Past


class World:
    """A supervisor without a disk: does at once what is due, and counts."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asleep = 0.0
        self.past = Past()
        self.fleet = Fleet("s", "n", (), "0m", True)
        self.writes: list[float] = []
        self.published = 0
        self.left = False

    def change(self, **what: object) -> None:
        self.fleet = self.fleet._replace(**what)

    def look(self) -> schedule.Due:
        clock = Clock(self.now, self.now + self.asleep, self.now + self.asleep)
        due, self.past = schedule.due(self.fleet, self.past, clock)
        if due.publish:
            self.published += 1
            self.past = schedule.done_publishing(self.past, self.fleet)
        if due.write:
            self.writes.append(self.now)
            self.past = schedule.done_writing(self.past, self.fleet, clock)
        self.left = self.left or due.leave
        return due

    def run(self, seconds: float, every: float = 0.5) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now += every
            self.look()


@pytest.fixture
def world() -> World:
    """One that has written its first node already."""
    made = World()
    made.look()
    made.writes.clear()
    return made


def test_the_first_look_writes_and_publishes() -> None:
    world = World()

    due = world.look()

    assert (due.write, due.publish) == (True, True)


def test_nothing_new_is_not_written(world: World) -> None:
    world.run(600)

    assert world.writes == []
    assert world.published == 1


def test_a_change_waits_for_quiet_and_for_the_distance(world: World) -> None:
    world.run(5)
    world.change(node="n2")
    world.run(60)

    assert world.writes == [30.0]


def test_long_after_the_last_write_a_change_waits_for_two_quiet_seconds(world: World) -> None:
    world.run(100)
    world.change(node="n2")
    world.run(10)

    assert world.writes == [102.5]


def test_steady_change_is_written_every_thirty_seconds_and_the_last_state_lands(world: World) -> None:
    for number in range(200):
        world.change(node=f"n{number}")
        world.run(0.5)
    world.run(60)

    assert all(later - earlier >= 30 for earlier, later in zip(world.writes, world.writes[1:], strict=False))
    assert world.past.shown == "n199"


def test_a_question_is_written_at_once(world: World) -> None:
    world.run(3)
    world.change(node="n2", questions=("q-1",))
    world.look()

    assert world.writes == [3.0]


def test_what_changes_back_before_it_was_written_is_no_change(world: World) -> None:
    world.change(node="n2")
    world.run(5)
    world.change(node="n")
    world.run(100)

    assert world.writes == []


def test_ages_alone_are_written_after_a_quarter_of_an_hour(world: World) -> None:
    world.change(ages="5m")
    world.run(890)
    assert world.writes == []

    world.run(20)
    assert world.writes == [900.0]


def test_a_quiet_hour_with_twelve_agents_has_at_most_six_writes(world: World) -> None:
    for minute in range(60):
        world.change(ages=f"{minute}m")
        world.run(60, every=10)

    assert 3 <= len(world.writes) <= 6


def test_it_leaves_a_minute_after_the_last_need(world: World) -> None:
    world.change(needed=False)
    world.run(59)
    assert not world.left

    world.run(2)
    assert world.left


def test_it_does_not_leave_while_something_waits_to_be_written(world: World) -> None:
    world.run(100)
    world.change(needed=False)
    world.run(59)
    world.change(node="n2")
    world.now += 1.5
    assert not world.look().leave

    world.run(10)
    assert world.past.shown == "n2"
    assert world.left


def test_an_hour_of_sleep_is_one_look_and_no_hour_without_need(world: World) -> None:
    world.change(needed=False)
    world.run(30)
    world.asleep = 3600
    world.now += 0.5
    due = world.look()

    assert due.slept
    assert not due.leave
    world.run(40)
    assert not world.left
    world.run(30)
    assert world.left


def test_after_sleep_old_ages_are_refreshed_once(world: World) -> None:
    world.run(10)
    world.asleep = 3600
    world.change(ages="1h")
    world.run(100)

    assert world.writes == [10.5]


def test_the_next_look_is_announced(world: World) -> None:
    world.run(10)
    world.change(node="n2")
    due = world.look()

    assert due.again == 30.0


def test_what_can_never_be_written_does_not_keep_it_for_ever(world: World) -> None:
    """As when somebody's git has left its lock behind."""
    world.run(100)
    world.change(needed=False, node="n2")
    for _ in range(700):
        world.now += 0.5
        clock = Clock(world.now, world.now, world.now)
        due, world.past = schedule.due(world.fleet, world.past, clock)
        if due.leave:
            break

    assert 100 + 5 * schedule.LEAVE_AFTER <= world.now < 100 + 6 * schedule.LEAVE_AFTER
