"""The voice of a session over real files: the machine of the rules, prompts and sessions as they come."""

import os
import tempfile

import pytest
from hypothesis import HealthCheck, settings

from ibstatus.mail import cleanup, cursors, delivery, listener_reader, post, session_reader
from ibstatus.project import paths
from ibstatus.system import locks
from tests.conftest import place_in
from tests.mail import test_delivery as model

NOW = 1_800_000_000.0


class RealDeliveries(model.Deliveries):
    """Each crash leaves the `with` without `settle`: what a killed hook leaves behind, locks dropped."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.place = place_in(self.folder.name)

    def teardown(self) -> None:
        self.folder.cleanup()

    def add(self) -> None:
        post.notify(self.place, "cli", "complete", "a", True, str(self.count), NOW)

    def cut(self, line: int) -> None:
        if self.count:
            with locks.Lock(self.place.lock("queue")):
                cleanup.trim(self.place)

    def happen(self, session: str, event: str, prompt: str, crash: str) -> tuple[list[int], list[tuple[int, bool]]]:
        with session_reader.hear(self.place, session, event, prompt) as offer:
            told = [(int(line["msg"]), line.get("again", False)) for line in offer.told.values]
            if crash == "none":
                offer.settle()
            confirmed = [number_of(item) for item in offer.confirmed]
        return confirmed, told


def number_of(item: str) -> int:
    """All of them are told in the same second: n-<epoch>-a, n-<epoch>-a.2, …"""
    return int(item.partition(".")[2] or 1) - 1


TestReal = RealDeliveries.TestCase
TestReal.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def hear(place: paths.Place, session: str, event: str, prompt: str) -> list[str]:
    with session_reader.hear(place, session, event, prompt) as offer:
        offer.settle()
    return [line["msg"] + "!" * ("again" in line) for line in offer.told.values]


def say(place: paths.Place, text: str) -> None:
    post.notify(place, "cli", "complete", "a", True, text, NOW)


@pytest.mark.parametrize(
    "prompt", ["a b", "ü" * 300, "x" * 5000, "p\ud800", "\u2028p", "tab\tnew\nline", "-x", "0 0 p"]
)
def test_any_prompt_id_confirms(place: paths.Place, prompt: str) -> None:
    say(place, "hello")
    assert hear(place, "s", delivery.PROMPT, prompt) == ["hello"]
    assert hear(place, "s", delivery.STOP, prompt) == []
    assert hear(place, "s", delivery.PROMPT, "next") == []


@pytest.mark.parametrize("session", ["", "..", "a/b", "x" * 300, "\ud800", "ü", "default", ".hidden", "foo.ib-tmp"])
def test_any_session_id_has_its_own_cursor(place: paths.Place, session: str) -> None:
    say(place, "hello")
    assert hear(place, session, delivery.PROMPT, "p") == ["hello"]
    assert session_reader.has_voice(place, session)
    assert not session_reader.has_voice(place, session + "2")
    assert len(cursors.names(place)) == 1
    assert hear(place, session, delivery.STOP, "p") == []
    say(place, "more")
    assert hear(place, session + "2", delivery.PROMPT, "p") == ["more"], "a new session starts at what was confirmed"


def test_a_second_hook_of_the_session_is_silent(place: paths.Place) -> None:
    say(place, "hello")
    with session_reader.hear(place, "s", delivery.PROMPT, "p") as offer:
        with session_reader.hear(place, "s", delivery.BATCH, "p") as other:
            assert not other.told.values
            other.settle()
        assert len(offer.told.values) == 1
        offer.settle()
    assert hear(place, "s", delivery.STOP, "p") == []
    assert hear(place, "s", delivery.PROMPT, "p2") == []


def test_settling_twice_is_once(place: paths.Place) -> None:
    say(place, "hello")
    with session_reader.hear(place, "s", delivery.PROMPT, "p") as offer:
        offer.settle()
        offer.settle()
    offer.settle()
    assert cursors.read(place, "s") == delivery.Cursor(0, os.path.getsize(place.queue), "p")


def test_no_queue_moves_no_cursor(place: paths.Place) -> None:
    say(place, "hello")
    hear(place, "s", delivery.PROMPT, "p")
    hear(place, "s", delivery.STOP, "p")
    before = cursors.read(place, "s")
    os.unlink(place.queue)
    os.unlink(place.safe_copy(place.queue))
    assert hear(place, "s", delivery.PROMPT, "p2") == []
    assert cursors.read(place, "s") == before
    say(place, "new file")
    assert hear(place, "s", delivery.PROMPT, "p3") == ["new file"]


def test_a_voice_and_a_listener_have_cursors_of_their_own(place: paths.Place) -> None:
    say(place, "hello")
    reading = listener_reader.Tap(place, "default")
    assert len(reading.pour(lambda data: None).values) == 1
    reading.close()
    assert hear(place, "s", delivery.PROMPT, "p") == ["hello"], "what a person read counts for that person only"


def test_a_missing_queue_moves_nobody_to_where_others_are(place: paths.Place) -> None:
    """It may be there the next moment: whoever looked in between must not skip what stands in it."""
    say(place, "one")
    say(place, "two")
    listener_reader.Tap(place, "default").close()
    hear(place, "early", delivery.START, "")
    hear(place, "ahead", delivery.PROMPT, "p")
    os.rename(place.queue, place.home + "/away")
    os.rename(place.safe_copy(place.queue), place.home + "/copy")
    reading = listener_reader.Tap(place, "default")
    assert reading.pour(lambda data: None).values == []
    assert hear(place, "ahead", delivery.PROMPT, "p") == []
    assert hear(place, "early", delivery.PROMPT, "p1") == []
    assert hear(place, "early", delivery.PROMPT, "p2") == []
    os.rename(place.home + "/away", place.queue)
    assert [line["msg"] for line in reading.pour(lambda data: None).values] == ["one", "two"]
    assert hear(place, "early", delivery.PROMPT, "p3") == ["one!", "two!"]
    reading.close()


@pytest.mark.parametrize("event", [delivery.STOP, delivery.BATCH])
def test_a_turn_confirms_without_a_queue(place: paths.Place, event: str) -> None:
    say(place, "one")
    assert hear(place, "s", delivery.PROMPT, "p") == ["one"]
    os.unlink(place.queue)
    os.unlink(place.safe_copy(place.queue))
    assert hear(place, "s", event, "p") == []
    cursor = cursors.read(place, "s")
    assert cursor is not None
    assert cursor.done == cursor.offered > 0
