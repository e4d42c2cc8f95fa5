"""The wake ladder of a session: one ring for the same news, and only for news that nobody has told."""

import os

import pytest

from ibstatus.mail import delivery, listener_reader, post, session_reader, wake_claim, wake_state
from ibstatus.project import paths
from ibstatus.system import locks
from tests.conftest import place_in

NOW = 1_800_000_000.0


@pytest.fixture
def place(tmp_path) -> paths.Place:
    return place_in(str(tmp_path))


def notify(place: paths.Place, text: str = "x", kind: str = "complete", at: float = NOW) -> None:
    post.notify(place, "cli", kind, "a", True, text, at)


def tell(place: paths.Place, session: str, event: str = delivery.PROMPT, prompt: str = "p") -> list[str]:
    with session_reader.hear(place, session, event, prompt) as offer:
        offer.settle()
        return [line["msg"] for line in offer.told.values]


def claim(place: paths.Place, session: str = "s", by: str = wake_state.WATCH, at: float = NOW) -> bool:
    return wake_claim.claim(place, session, by, at)


def test_without_news_no_bell_rings(place) -> None:
    assert not claim(place)
    notify(place)
    tell(place, "s")
    assert not claim(place)


def test_one_bell_rings_for_the_same_news(place) -> None:
    notify(place)

    assert claim(place, by=wake_state.WAITER)
    assert not claim(place, by=wake_state.WATCH)
    assert not claim(place, by=wake_state.LISTENER)


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


@pytest.mark.parametrize("later", [wake_claim.PATIENCE + 1, -100.0], ids=["later", "clock went back"])
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
    with session_reader.hear(place, "s", delivery.PROMPT, "p"):
        pass  # killed before it settled
    assert claim(place)


def test_while_the_voice_speaks_nothing_rings(place) -> None:
    notify(place)
    with locks.Lock(place.lock("cursor-s")):
        assert not claim(place)
    assert claim(place)


def test_the_session_of_the_user_is_rung_and_the_other_is_not(place) -> None:
    wake_state.set_primary(place, "first")
    os.utime(wake_state.primary_path(place), (NOW, NOW))
    notify(place)

    assert not claim(place, "second")
    assert claim(place, "first")


def test_another_is_rung_when_the_first_is_gone(place) -> None:
    wake_state.set_primary(place, "first")
    os.utime(wake_state.primary_path(place), (NOW, NOW))
    notify(place)

    assert claim(place, "second", at=NOW + wake_claim.SILENT + 1)
    assert not claim(place, "third")
    wake_state.leave(place, "first")
    assert claim(place, "third")


def test_a_first_session_that_waits_is_not_gone_however_long(place) -> None:
    wake_state.set_primary(place, "first")
    os.utime(wake_state.primary_path(place), (NOW, NOW))
    notify(place)

    with locks.Lock(wake_state.waiter_lock(place, "first")):
        assert not claim(place, "second", at=NOW + 99_999)


def test_an_old_question_rings_all(place) -> None:
    wake_state.set_primary(place, "first")
    notify(place, kind="question")
    os.utime(wake_state.primary_path(place), (NOW, NOW))

    assert not claim(place, "second", at=NOW + 100)
    assert claim(place, "second", at=NOW + wake_claim.OLD_QUESTION + 1)


def test_a_listener_that_was_asked_for_rings_its_own_session(place) -> None:
    wake_state.set_primary(place, "first")
    notify(place)

    assert claim(place, "second", by=wake_state.LISTENER)


def test_what_a_listener_printed_is_heard(place) -> None:
    notify(place)
    listener = listener_reader.Tap(place, "listen@s")
    listener.pour(lambda data: None)
    listener.close()

    assert not claim(place)


def test_what_is_armed_is_told(place) -> None:
    assert wake_state.armed(place, "s") == []
    wake_state.set_watched(place, "s", NOW)
    with locks.Lock(wake_state.waiter_lock(place, "s")), locks.Lock(place.lock("cursor-listen@s")):
        assert wake_state.armed(place, "s") == [wake_state.WAITER, wake_state.WATCH, wake_state.LISTENER]
    wake_state.leave(place, "s")
    assert wake_state.armed(place, "s") == []


@pytest.mark.parametrize("data", [b"", b"1 2 3", b"x y z w", b"-1 0 0 0 0", b"9" * 400 + b" 0 0 0 0"])
def test_a_broken_file_counts_as_none(place, data: bytes) -> None:
    wake_state.set_watched(place, "s", NOW)
    with open(wake_state.path_of(place, "s"), "wb") as file:
        file.write(data)
    notify(place)

    assert wake_state.read(place, "s").watched == 0
    assert claim(place)
