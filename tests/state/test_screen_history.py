"""What is kept of sights from look to look."""

import pytest

from ibstatus.claude.screens.states import Shown
from ibstatus.model.clock import Clock
from ibstatus.model.fleet import Agent
from ibstatus.state.rules import evidence, screen_history
from ibstatus.state.rules.known import Sight, Told

IDLE = Shown("waiting", "input", "prompt", idle=True)
BUSY = Shown("running", rule="spinner")


def agent(state: str, reason: str = "") -> Agent:
    return Agent("a", state, "1m", "task", reason=reason)


def test_since_when_it_is_so_survives_a_screen_that_changes() -> None:
    first = screen_history.after(None, Sight(True, shown=BUSY, changed=10.0), 10.0)
    second = screen_history.after(first, Sight(True, shown=BUSY, changed=11.0), 11.0)
    third = screen_history.after(second, Sight(True, shown=IDLE, changed=12.0), 12.0)
    fourth = screen_history.after(third, Sight(True, shown=IDLE), 13.0)

    assert [(one.at, one.seen, one.changed) for one in (first, second, third, fourth)] == [
        (10.0, 10.0, 10.0),
        (10.0, 11.0, 11.0),
        (12.0, 12.0, 12.0),
        (12.0, 13.0, 12.0),
    ]


def test_a_clock_that_jumps_back_leaves_no_time_in_the_future() -> None:
    before = screen_history.after(None, Sight(True, shown=BUSY, changed=9000.0), 9000.0)
    later = screen_history.after(before, Sight(True, shown=BUSY), 100.0)

    assert (later.at, later.seen, later.changed) == (100.0, 100.0, 100.0)


def test_what_is_at_odds_with_what_is_published() -> None:
    odd = screen_history.is_at_odds
    assert odd(Sight(True, shown=IDLE), agent("running"))
    assert odd(Sight(True, shown=BUSY), agent("waiting", "input"))
    assert odd(Sight(True, shown=Shown("waiting", "permission")), agent("waiting", "input"))
    assert not odd(Sight(True, shown=IDLE), agent("complete"))
    assert not odd(Sight(True, shown=IDLE), agent("waiting", "input"))
    assert not odd(Sight(True, shown=Shown("unknown")), agent("running"))
    assert not odd(Sight(False), agent("running"))
    assert not odd(Sight(True, shown=IDLE), None)


def test_a_turn_that_came_and_went_between_two_looks_leaves_its_screen_in_doubt() -> None:
    first = screen_history.after(None, Sight(True, shown=IDLE, changed=100.0), 100.0)
    second = screen_history.after(first, Sight(True, shown=IDLE, changed=134.0), 134.0)

    assert screen_history.same(first, second)
    assert (second.at, second.changed) == (100.0, 134.0)
    assert screen_history.is_in_doubt(second, agent("running"), 134.5)
    assert not screen_history.is_in_doubt(second, agent("running"), 134 + screen_history.DOUBT)
    assert not screen_history.is_in_doubt(second, agent("waiting", "input"), 134.5)


def test_who_has_just_begun_to_work_is_looked_at_until_the_slowest_rule_has_decided() -> None:
    still = screen_history.after(None, Sight(True, shown=IDLE, changed=100.0), 100.0)
    begun = Agent("a", "running", "1m", "task", since=200.0)

    assert screen_history.is_in_doubt(still, begun, 200.0 + evidence.RESTLESS + screen_history.SOON)
    assert not screen_history.is_in_doubt(still, begun, 230.0)


def test_a_suspended_client_is_looked_at_briskly_and_one_at_rest_has_its_turn() -> None:
    assert screen_history.pace([agent("waiting", "suspended")]) == screen_history.BRISK
    assert screen_history.pace([agent("stopped")]) == screen_history.ASLEEP
    assert (screen_history.turn(1, is_busy=False), screen_history.turn(1, is_busy=True)) == (
        screen_history.REST_EVERY,
        screen_history.BUSY_EVERY,
    )
    assert screen_history.turn(800, is_busy=False) == screen_history.turn(800, is_busy=True) == 50.0


def test_the_clock_of_tmux_has_settled_after_the_next_full_second() -> None:
    assert screen_history.settled_in(10.25) == pytest.approx(0.8)
    assert screen_history.settled_in(10.0) == pytest.approx(1.05)


def test_ticks_are_brisk_while_anybody_can_change_without_a_hook() -> None:
    resting = [agent("waiting", "input"), agent("complete"), agent("stopped")]
    assert screen_history.pace(resting) == screen_history.CALM
    for moving in (agent("running"), agent("creating"), agent("waiting", "permission"), agent("unknown")):
        assert screen_history.pace([*resting, moving]) == screen_history.BRISK


def test_a_clock_that_was_set_is_told_from_one_that_slept() -> None:
    before = Clock(10.0, 10.0, 1000.0)

    assert not screen_history.has_stepped(before, Clock(11.0, 3611.0, 4601.0))
    assert screen_history.has_stepped(before, Clock(11.0, 11.0, 4601.0))
    assert screen_history.has_stepped(before, Clock(11.0, 11.0, -2599.0))


def test_another_trouble_is_another_sight() -> None:
    assert not screen_history.same(Sight(None, note="tmux hangs"), Sight(None, note="tmux is gone"))
    assert screen_history.same(Sight(None, note="tmux hangs", at=1.0), Sight(None, note="tmux hangs", at=2.0))


@pytest.mark.parametrize(
    ("state", "reason", "asked"),
    [("waiting", "permission", True), ("waiting", "input", False), ("running", "", True), ("complete", "", False)],
)
def test_whose_screen_a_command_has_to_see(state: str, reason: str, asked: bool) -> None:
    assert screen_history.asks_for_a_look({"state": state, "reason": reason}) is asked
    assert screen_history.asks_for_a_look(None)


def test_a_prompt_against_the_word_of_a_hook_takes_a_second_look() -> None:
    def is_unproven(state: str, reason: str = "", ago: float = 5.0, shown: Shown = IDLE) -> bool:
        return screen_history.is_unproven(Sight(True, shown=shown), Told(state, reason, 100.0 - ago), 100.0)

    assert is_unproven("running")
    assert is_unproven("waiting", "permission")
    assert is_unproven("stopped")
    assert not is_unproven("running", "background")
    assert not is_unproven("running", ago=0.1)
    assert not is_unproven("running", shown=BUSY)
    assert not is_unproven("complete")
    assert not is_unproven("waiting", "input")
