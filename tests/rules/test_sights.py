"""What is kept of sights from look to look."""

from ibstatus.model.records import Agent
from ibstatus.rules import sights
from ibstatus.rules.screen_states import Shown
from ibstatus.rules.sights import Sight

IDLE = Shown("waiting", "input", "prompt", idle=True)
BUSY = Shown("running", rule="spinner")


def agent(state: str, reason: str = "") -> Agent:
    return Agent("a", state, "1m", "task", reason=reason)


def test_since_when_it_is_so_survives_a_screen_that_changes() -> None:
    first = sights.after(None, Sight(True, shown=BUSY, changed=10.0), 10.0)
    second = sights.after(first, Sight(True, shown=BUSY, changed=11.0), 11.0)
    third = sights.after(second, Sight(True, shown=IDLE, changed=12.0), 12.0)
    fourth = sights.after(third, Sight(True, shown=IDLE), 13.0)

    assert [(one.at, one.seen, one.changed) for one in (first, second, third, fourth)] == [
        (10.0, 10.0, 10.0),
        (10.0, 11.0, 11.0),
        (12.0, 12.0, 12.0),
        (12.0, 13.0, 12.0),
    ]


def test_a_clock_that_jumps_back_leaves_no_time_in_the_future() -> None:
    before = sights.after(None, Sight(True, shown=BUSY, changed=9000.0), 9000.0)
    later = sights.after(before, Sight(True, shown=BUSY), 100.0)

    assert (later.at, later.seen, later.changed) == (100.0, 100.0, 100.0)


def test_what_is_at_odds_with_what_is_published() -> None:
    odd = sights.is_at_odds
    assert odd(Sight(True, shown=IDLE), agent("running"))
    assert odd(Sight(True, shown=BUSY), agent("waiting", "input"))
    assert odd(Sight(True, shown=Shown("waiting", "permission")), agent("waiting", "input"))
    assert not odd(Sight(True, shown=IDLE), agent("complete"))
    assert not odd(Sight(True, shown=IDLE), agent("waiting", "input"))
    assert not odd(Sight(True, shown=Shown("unknown")), agent("running"))
    assert not odd(Sight(False), agent("running"))
    assert not odd(Sight(True, shown=IDLE), None)


def test_ticks_are_brisk_while_anybody_can_change_without_a_hook() -> None:
    resting = [agent("waiting", "input"), agent("complete"), agent("stopped")]
    assert sights.pace(resting) == sights.CALM
    for moving in (agent("running"), agent("creating"), agent("waiting", "permission"), agent("unknown")):
        assert sights.pace([*resting, moving]) == sights.BRISK
