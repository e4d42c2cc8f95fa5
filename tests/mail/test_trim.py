"""Trimming with cursors at all sorts of positions: absolute offsets stay right, nothing unread is lost."""

import json
import os
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibstatus.mail import cleanup, cursors, listener_reader, post, queue
from ibstatus.project import paths
from ibstatus.system import disk, locks
from tests.conftest import place_in

NOW = 1_800_000_000.0
READERS = ("default", "listen@a", "listen@b")


def say(place: paths.Place, text: str) -> None:
    post.notify(place, "cli", "complete", "a", True, text, NOW)


def read(place: paths.Place, reader: str) -> list[str]:
    reading = listener_reader.Tap(place, reader)
    told = reading.pour(lambda data: None)
    reading.close()
    return [line["msg"] + "!" * ("again" in line) for line in told.values]


def trimmed(place: paths.Place) -> int:
    with locks.Lock(place.lock("queue")):
        return cleanup.trim(place)


def kept(place: paths.Place) -> list[str]:
    return [json.loads(line)["msg"] for line in Path(place.queue).read_text().splitlines()]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(1, 400)),
        st.tuples(st.just("read"), st.sampled_from(READERS)),
        st.tuples(st.just("trim"), st.none()),
        st.tuples(st.just("echo"), st.sampled_from([b"garbage\n", b'{"msg":"0"}\n', b"\n", b'{"msg":"0"}'])),
    ),
    max_size=40,
)


@given(steps=STEPS)
@settings(max_examples=40, deadline=None)
def test_readers_at_any_position(steps: list[tuple[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = place_in(folder)
        count = 0
        got: dict[str, list[int]] = {reader: [] for reader in READERS}
        for reader in READERS:
            listener_reader.Tap(place, reader).close()

        def listen(reader: str) -> None:
            texts = [text for text in read(place, reader) if text != "0"]
            got[reader] += [int(text.split()[0]) for text in texts]

        for what, how in steps:
            if what == "say":
                count += 1
                say(place, f"{count} " + "x" * int(str(how)))
            elif what == "read":
                listen(str(how))
            elif what == "trim" and os.path.exists(place.queue):
                trimmed(place)
            elif isinstance(how, bytes):
                with open(place.queue, "ab") as file:
                    file.write(how)
        say(place, "0")
        for reader in READERS:
            listen(reader)
            assert got[reader] == list(range(1, count + 1))


def test_the_last_line_and_the_unread_stay(place: paths.Place) -> None:
    for number in range(5):
        say(place, str(number))
    assert trimmed(place) == 0, "nobody has read: everything stays"
    assert read(place, "default") == ["0", "1", "2", "3", "4"]
    end = cursors.furthest(place)
    assert trimmed(place) > 0
    assert kept(place) == ["4"]
    assert trimmed(place) == 0
    seen = queue.view(place)
    assert seen.end == end
    seen.close()
    say(place, "5")
    assert read(place, "default") == ["5"]


def test_a_reader_of_yesterday_holds_nothing_back(place: paths.Place) -> None:
    for number in range(3):
        say(place, str(number))
    listener_reader.Tap(place, "listen@old").close()
    read(place, "default")
    assert trimmed(place) == 0, "an unread line, and its reader was here today"
    long_ago = time.time() - cleanup.FRESH - 60
    os.utime(place.cursor("listen@old"), (long_ago, long_ago))
    assert trimmed(place) > 0
    assert read(place, "listen@old") == ["2"]


def test_only_old_readers_still_hold_what_nobody_read(place: paths.Place) -> None:
    for number in range(3):
        say(place, str(number))
    listener_reader.Tap(place, "listen@old").close()
    long_ago = time.time() - cleanup.FRESH - 60
    os.utime(place.cursor("listen@old"), (long_ago, long_ago))
    assert trimmed(place) == 0
    assert read(place, "listen@old") == ["0", "1", "2"]


def test_a_view_from_before_reads_on(place: paths.Place) -> None:
    for number in range(4):
        say(place, str(number))
    staying = listener_reader.Tap(place, "listen@a")
    assert len(staying.pour(lambda data: None).values) == 4
    old = queue.view(place)
    assert trimmed(place) > 0
    assert json.loads(old.read(old.base, old.end)[1].splitlines()[0])["msg"] == "0"
    old.close()
    say(place, "4")
    assert [line["msg"] for line in staying.pour(lambda data: None).values] == ["4"]
    staying.close()


def test_a_foreign_write_into_the_old_file_is_carried_over(place: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        say(place, str(number))
    read(place, "default")
    real = disk.rename

    def late(source: str, target: str) -> None:
        if target == place.queue:
            with open(place.queue, "ab") as file:
                file.write(b'{"msg":"late"}\n')
        real(source, target)

    monkeypatch.setattr(disk, "rename", late)
    assert trimmed(place) > 0
    monkeypatch.undo()
    assert read(place, "default") == ["late"]


def test_the_copy_follows(place: paths.Place) -> None:
    for number in range(4):
        say(place, str(number))
    read(place, "default")
    assert trimmed(place) > 0
    assert os.path.samefile(place.queue, place.safe_copy(place.queue))
    assert os.path.samefile(place.queue_base, place.safe_copy(place.queue_base))


def test_cursors_of_a_month_ago_go(place: paths.Place) -> None:
    for number in range(4):
        say(place, str(number))
    for reader in ("listen@gone", "default", "listen@here"):
        read(place, reader)
    long_ago = time.time() - cleanup.FORGOTTEN - 60
    for reader in ("listen@gone", "default"):
        os.utime(place.cursor(reader), (long_ago, long_ago))
    assert trimmed(place) > 0
    assert sorted(cursors.names(place)) == ["default", "listen@here"]
    assert not os.path.exists(place.safe_copy(place.cursor("listen@gone")))
