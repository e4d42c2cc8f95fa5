"""The wake ladder of a session: one ring for the same news, and only for news that nobody has told."""

import os

import pytest

from ibstatus.rules import delivery
from ibstatus.store import locks, notices, places, ringing, rungs, tap, voice
from tests.store.conftest import place_in

NOW = 1_800_000_000.0


@pytest.fixture
def place(tmp_path) -> places.Place:
    return place_in(str(tmp_path))


def notify(place: places.Place, text: str = "x", kind: str = "complete", at: float = NOW) -> None:
    notices.notify(place, "cli", kind, "a", True, text, at)


def tell(place: places.Place, session: str, event: str = delivery.PROMPT, prompt: str = "p") -> list[str]:
    with voice.hear(place, session, event, prompt) as offer:
        offer.settle()
        return [line["msg"] for line in offer.told.values]


def claim(place: places.Place, session: str = "s", by: str = rungs.WATCH, at: float = NOW) -> bool:
    return ringing.claim(place, session, by, at)


def test_without_news_no_bell_rings(place) -> None:
    assert not claim(place)
    notify(place)
    tell(place, "s")
    assert not claim(place)


def test_one_bell_rings_for_the_same_news(place) -> None:
    notify(place)

    assert claim(place, by=rungs.WAITER)
    assert not claim(place, by=rungs.WATCH)
    assert not claim(place, by=rungs.LISTENER)


def test_what_comes_while_a_ring_is_on_its_way_needs_none(place) -> None:
    notify(place)
    assert claim(place)
    notify(place, "y")
    assert not claim(place)
    tell(place, "s")
    assert not claim(place)


def test_news_after_the_telling_rings_anew_at_once(place) -> None:
    notify(place)
    assert claim(place)
    tell(place, "s")
    notify(place, "y")
    assert claim(place)


@pytest.mark.parametrize("later", [ringing.PATIENCE + 1, -100.0], ids=["later", "clock went back"])
def test_a_ring_that_nobody_answered_is_repeated(place, later: float) -> None:
    notify(place)
    assert claim(place)
    assert claim(place, at=NOW + later)


def test_a_voice_that_never_answers_is_rung_more_and_more_seldom(place) -> None:
    """Each ring costs a turn, and each turn's end arms a new waiter."""
    notify(place)
    rings = [at for at in range(0, 24 * 3600, 5) if claim(place, at=NOW + at)]

    assert rings[:4] == [0, 10, 50, 210]
    assert len(rings) < 40


def test_lines_that_an_interrupted_turn_was_told_do_not_ring(place) -> None:
    """They come again with the next prompt; a ring would start a turn that nobody asked for."""
    notify(place)
    tell(place, "s")
    assert not claim(place, at=NOW + 60)


def test_a_claim_that_was_never_printed_rings(place) -> None:
    notify(place)
    with voice.hear(place, "s", delivery.PROMPT, "p"):
        pass  # killed before it settled
    assert claim(place)


def test_while_the_voice_speaks_nothing_rings(place) -> None:
    notify(place)
    with locks.Lock(place.lock("cursor-s")):
        assert not claim(place)
    assert claim(place)


def test_the_session_of_the_user_is_rung_and_the_other_is_not(place) -> None:
    rungs.set_primary(place, "first")
    os.utime(rungs.primary_path(place), (NOW, NOW))
    notify(place)

    assert not claim(place, "second")
    assert claim(place, "first")


def test_another_is_rung_when_the_first_is_gone(place) -> None:
    rungs.set_primary(place, "first")
    os.utime(rungs.primary_path(place), (NOW, NOW))
    notify(place)

    assert claim(place, "second", at=NOW + ringing.SILENT + 1)
    assert not claim(place, "third")
    rungs.leave(place, "first")
    assert claim(place, "third")


def test_a_first_session_that_waits_is_not_gone_however_long(place) -> None:
    rungs.set_primary(place, "first")
    os.utime(rungs.primary_path(place), (NOW, NOW))
    notify(place)

    with locks.Lock(rungs.waiter_lock(place, "first")):
        assert not claim(place, "second", at=NOW + 99_999)


def test_an_old_question_rings_all(place) -> None:
    rungs.set_primary(place, "first")
    notify(place, kind="question")
    os.utime(rungs.primary_path(place), (NOW, NOW))

    assert not claim(place, "second", at=NOW + 100)
    assert claim(place, "second", at=NOW + ringing.OLD_QUESTION + 1)


def test_a_listener_that_was_asked_for_rings_its_own_session(place) -> None:
    rungs.set_primary(place, "first")
    notify(place)

    assert claim(place, "second", by=rungs.LISTENER)


def test_what_a_listener_printed_is_heard(place) -> None:
    notify(place)
    listener = tap.Tap(place, "listen@s")
    listener.pour(lambda data: None)
    listener.close()

    assert not claim(place)


def test_what_is_armed_is_told(place) -> None:
    assert rungs.armed(place, "s") == []
    rungs.set_watched(place, "s", NOW)
    with locks.Lock(rungs.waiter_lock(place, "s")), locks.Lock(place.lock("cursor-listen@s")):
        assert rungs.armed(place, "s") == [rungs.WAITER, rungs.WATCH, rungs.LISTENER]
    rungs.leave(place, "s")
    assert rungs.armed(place, "s") == []


@pytest.mark.parametrize("data", [b"", b"1 2 3", b"x y z w", b"-1 0 0 0 0", b"9" * 400 + b" 0 0 0 0"])
def test_a_broken_file_counts_as_none(place, data: bytes) -> None:
    rungs.set_watched(place, "s", NOW)
    with open(rungs.path_of(place, "s"), "wb") as file:
        file.write(data)
    notify(place)

    assert rungs.read(place, "s").watched == 0
    assert claim(place)
