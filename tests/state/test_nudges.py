"""A silent agent is told so less and less often, and not for ever."""

from msgspec.structs import replace

from ibstatus.model.fleet import Agent
from ibstatus.state.rules import notices
from ibstatus.state.rules.episodes import INPUT, Episode

SILENT = Agent("a", "waiting", "1m", "task", reason="input", since=5.0, silent=True)


def test_one_two_four_minutes_and_five_times_at_most() -> None:
    waits = [notices.wait(SILENT, Episode(INPUT, nudges=count), 0.0) for count in range(6)]
    assert waits == [60, 120, 240, 480, 960, None]
    assert notices.wait(SILENT, Episode(INPUT), 59.0) == 1
    assert notices.wait(SILENT, Episode(INPUT), 600.0) == 0


def test_who_says_how_it_is_is_left_alone() -> None:
    assert notices.wait(replace(SILENT, silent=False), Episode(INPUT), 600.0) is None
    assert notices.wait(SILENT, Episode(INPUT, left=True), 600.0) is None
    assert notices.wait(SILENT, Episode("waiting:permission"), 600.0) is None


def test_after_esc_nobody_has_said_anything() -> None:
    assert notices.wait(replace(SILENT, source="screen"), Episode(INPUT), 600.0) is None
