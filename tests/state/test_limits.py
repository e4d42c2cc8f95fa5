"""When a limit ends, by the client's words, and who is sent on then."""

import re
from datetime import UTC, datetime

import pytest

from ibstatus.model.fleet import Agent
from ibstatus.state.rules import limits


def at(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[arg-type, misc]


NOW = at(2026, 1, 4, 8, 0)  # a Sunday


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("You've hit your 5-hour limit · resets 8:28am (UTC)", at(2026, 1, 4, 8, 28)),
        ("You've hit your session limit · resets 8:16am (UTC)", at(2026, 1, 4, 8, 16)),
        ("resets 7:00am (UTC)", at(2026, 1, 5, 7, 0)),
        ("resets 8am (UTC)", at(2026, 1, 4, 8, 0)),
        ("resets 12am (UTC)", at(2026, 1, 5, 0, 0)),
        ("resets 12:30pm (UTC)", at(2026, 1, 4, 12, 30)),
        ("resets Jan 5 at 3pm (Europe/Berlin)", at(2026, 1, 5, 14, 0)),
        ("resets Jan 5, 3pm (America/New_York)", at(2026, 1, 5, 20, 0)),
        ("resets Mon 3pm (UTC)", at(2026, 1, 5, 15, 0)),
        ("resets tomorrow at 9am (UTC)", at(2026, 1, 5, 9, 0)),
        ("resets at 15:00 UTC", at(2026, 1, 4, 15, 0)),
        ("resets in 2h", NOW + 7200),
        ("resets in 1h 30m", NOW + 5400),
        ("try again in 45 minutes", NOW + 2700),
        ("Claude AI usage limit reached|1767520000", 1767520000.0),
        ("resets\n  8:28am (UTC)", at(2026, 1, 4, 8, 28)),
        ("resets 3pm (UTC+2)", at(2026, 1, 4, 13, 0)),
        ("resets 8:28am (UTC) You may upgrade", at(2026, 1, 4, 8, 28)),
        ("resets in 1 week", NOW + 7 * 86400),
        ("resets 9pm PST. You've hit your limit · resets 8:28am (UTC)", at(2026, 1, 4, 8, 28)),
    ],
)
def test_reset_words(text: str, wanted: float) -> None:
    assert limits.reset_at(text, NOW) == wanted


@pytest.mark.parametrize(
    "text",
    ["", "resets", "resets soon", "resets 25:99am", "resets 13pm (UTC)", "resets Feb 30 at 3pm (UTC)", "resets 5",
     "resets 3pm tomorrow", "resets 3pm on Jan 9", "resets 9pm PST", "resets 9pm (PST)", "resets 3pm (UTC+99)",
     "resets in 1 month", "resets 3pm (local time)",
     "resets in 99999 days", "resets in a while", "limit reached|9999999999", "x" * 1_000_000, "resets " * 100_000],
)  # fmt: skip
def test_nonsense_says_nothing(text: str) -> None:
    assert limits.reset_at(text, NOW) is None


def test_an_unknown_zone_is_the_local_one() -> None:
    assert limits.reset_at("resets 8:28am (Nowhere/Land)", NOW) == limits.reset_at("resets 8:28am", NOW)
    assert limits.reset_at("Usage limit reached · continuing automatically at 8:28am", NOW) is not None


def test_the_hour_that_a_change_to_summer_time_skips() -> None:
    before = at(2026, 3, 28, 22, 0)
    assert limits.reset_at("resets 3:30am (Europe/Berlin)", before) == at(2026, 3, 29, 1, 30)
    assert limits.reset_at("resets 2:30am (Europe/Berlin)", before) in (at(2026, 3, 29, 1, 30), at(2026, 3, 29, 0, 30))


def limited(name: str, since: float, asks: str = "", state: str = "rate_limited") -> Agent:
    return Agent(name, state, "1m", "task", since=since, asks=asks)


def running(name: str, since: float) -> Agent:
    return Agent(name, "running", "1m", "task", since=since)


RESET = at(2026, 1, 4, 8, 28)
TEXT = "resets 8:28am (UTC)"


def test_the_whole_account_is_parked_once_and_sent_on_one_by_one() -> None:
    all_of_them = [limited(name, NOW, TEXT) for name in "abc"]
    step = limits.step(all_of_them, None, NOW)
    assert step.park is not None
    assert step.park.until == RESET
    assert step.wake == ""
    assert limits.step(all_of_them, step.park, RESET + 1).wake == ""

    first = limits.step(all_of_them, step.park, RESET + 21)
    assert first.wake == "a"
    assert limits.step(all_of_them, first.park, RESET + 60).wake == ""  # the probe has not begun yet

    went = [running("a", RESET + 22), *all_of_them[1:]]
    assert limits.step(went, first.park, RESET + 30).wake == ""
    second = limits.step(went, first.park, RESET + 37)
    assert second.wake == "b"
    assert limits.step([*went[:1], running("b", RESET + 38), went[2]], second.park, RESET + 53).wake == "c"


def test_one_that_is_limited_again_parks_all_again() -> None:
    both = [limited(name, NOW, TEXT) for name in "ab"]
    park = limits.step(both, None, NOW).park
    probed = limits.step(both, park, RESET + 21)
    step = limits.step([limited("a", RESET + 25), both[1]], probed.park, RESET + 26)
    assert step.park is not None
    assert (step.wake, step.park.tries, step.park.woken) == ("", 1, {})
    assert step.park.until == RESET + 26 + 600


def test_without_words_it_is_tried_less_and_less_often() -> None:
    assert [limits.backoff(tries) / 60 for tries in range(7)] == [5, 10, 20, 40, 60, 60, 60]
    park = limits.step([limited("a", NOW)], None, NOW).park
    assert park is not None
    assert park.until == NOW + 300


def test_a_client_that_goes_on_by_itself_is_left_alone_at_first() -> None:
    one = [limited("a", NOW, "Usage limit reached · continuing automatically, resets 8:28am (UTC)")]
    park = limits.step(one, None, NOW).park
    assert limits.step(one, park, RESET + 60).wake == ""
    assert limits.step(one, park, RESET + 121).wake == "a"


def test_calm_ends_the_parking() -> None:
    park = limits.step([limited("a", NOW, TEXT)], None, NOW).park
    calm = limits.step([running("a", NOW + 5)], park, NOW + 5).park
    assert calm is not None
    back = limits.step([limited("a", NOW + 9, TEXT)], calm, NOW + 9).park
    assert back is not None
    assert back.calm == 0
    assert limits.step([running("a", NOW + 5)], calm, NOW + 605).park is None
    assert limits.step([], calm, NOW + 6).park is None


def test_the_notice_names_who_and_when() -> None:
    park = limits.step([limited(name, NOW, TEXT) for name in "ab"], None, NOW).park
    assert park is not None
    text = limits.notice(park, NOW)
    assert text.startswith("Usage limit reached: a, b will be sent on at ")
    assert "28" in text


def parked(step: limits.Step) -> limits.Park:
    assert step.park is not None
    return step.park


def test_the_words_that_come_after_the_hook_are_taken() -> None:
    park = parked(limits.step([limited("a", NOW)], None, NOW))
    assert (park.until, limits.is_news(park, NOW + 0.1), limits.is_news(park, NOW + 3)) == (NOW + 300, False, True)
    park = parked(limits.step([limited("a", NOW, TEXT), limited("b", NOW + 0.3)], park, NOW + 1))
    assert (park.until, limits.is_news(park, NOW + 1)) == (RESET, False)
    park = parked(limits.step([limited("a", NOW, TEXT), limited("b", NOW + 0.3, TEXT)], park, NOW + 1.1))
    assert limits.is_news(park, NOW + 1.1)
    assert "a, b will be sent on at " in limits.notice(park, NOW + 1.1)


def test_a_better_end_is_told_once_and_a_quite_different_one_always() -> None:
    park = limits.heard(parked(limits.step([limited("a", NOW)], None, NOW)))
    assert "at about " in limits.notice(park, NOW)
    park = parked(limits.step([limited("a", NOW, TEXT)], park, NOW + 5))
    assert limits.is_news(park, NOW + 5)
    park = limits.heard(park)
    assert not limits.is_news(park, NOW + 5)
    park = parked(limits.step([limited("a", NOW + 9, "resets 8:40am (UTC)")], park, NOW + 9))
    assert not limits.is_news(park, NOW + 9)
    park = parked(limits.step([limited("a", NOW + 20, "resets 10am (UTC)")], park, NOW + 20))
    assert limits.is_news(park, NOW + 20)


def test_the_reset_that_is_just_over_is_not_the_one_of_tomorrow() -> None:
    """A client that was sent on too early repeats the words of before; so do all others that were."""
    park = limits.step([limited("a", NOW, TEXT), limited("b", NOW, TEXT)], None, NOW).park
    park = limits.step([limited("a", NOW, TEXT), limited("b", NOW, TEXT)], park, RESET + 90).park
    park = limits.step([running("a", RESET + 91), limited("b", NOW, TEXT)], park, RESET + 106).park
    refused = [limited("a", RESET + 110, TEXT), limited("b", RESET + 111, TEXT)]
    park = parked(limits.step(refused[:1], park, RESET + 110))
    step = limits.step(refused, park, RESET + 111)
    assert step.wake == ""
    assert parked(step).tries == 1
    assert {name: round(one.end - RESET) for name, one in parked(step).held.items()} == {"a": 710, "b": 711}


def test_each_waits_for_its_own_limit() -> None:
    both = [limited("a", NOW, "Opus limit · resets Jan 9, 3pm (UTC)"), limited("b", NOW, TEXT), limited("c", NOW)]
    park = limits.step(both, None, NOW).park
    assert re.search("b, c will be sent on at .*28.*, a at Jan 09", limits.notice(parked(limits.Step(park)), NOW))
    step = limits.step(both, park, RESET + 21)
    assert step.wake == "b"
    stuck = limits.step(both[:2], step.park, RESET + 21 + 121)
    assert stuck.wake == "b"


def test_a_clock_that_was_days_ahead() -> None:
    ahead = NOW + 5 * 86400
    park = limits.step([limited("a", ahead, "resets in 1h")], None, ahead).park
    park = parked(limits.step([limited("a", ahead, "resets in 1h")], park, NOW))
    assert park.until == NOW + 3600
    woken = limits.step([limited("a", ahead, "")], park, NOW + 3700)
    assert limits.step([limited("a", NOW - 9, "")], woken.park, NOW + 3600 + 20).wake in ("", "a")
    assert (
        limits.sent_on(
            [limited("a", NOW)],
            limits.Park(NOW, NOW, woken={"a": ahead}, held={"a": limits.Held(NOW - 60, True, NOW)}),
            NOW,
        ).wake
        == "a"
    )
