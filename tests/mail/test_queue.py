"""The queue under foreign hands: a line is taken or skipped with a note; nobody is stuck, nothing of ours lost."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ibstatus.mail import cursors, listener_reader, messages, post, queue
from ibstatus.model import constants
from ibstatus.project import paths, safety_copy
from ibstatus.system import disk, locks

NOW = 1_800_000_000.0


class Reader:
    """A listener that stays open, or one that starts anew for every look."""

    def __init__(self, place: paths.Place, name: str, stays: bool) -> None:
        self.place, self.name, self.stays = place, name, stays
        self.open: listener_reader.Tap | None = None
        self.skipped: list[str] = []

    def values(self) -> list[dict[str, Any]]:
        reading = self.open or listener_reader.Tap(self.place, self.name)
        out: list[bytes] = []
        told = reading.pour(out.append)
        assert [json.loads(line) for line in b"".join(out).splitlines()] == told.values
        self.skipped += told.skipped
        if self.stays:
            self.open = reading
        else:
            reading.close()
        return told.values

    def __call__(self) -> list[str]:
        return [line["msg"] + "!" * ("again" in line) for line in self.values()]


@pytest.fixture(params=["stays", "restarts"])
def read(place: paths.Place, request: pytest.FixtureRequest) -> Iterator[Reader]:
    reader = Reader(place, constants.DEFAULT_READER, request.param == "stays")
    yield reader
    if reader.open is not None:
        reader.open.close()


def say(place: paths.Place, text: str, now: float = NOW) -> str:
    return str(post.notify(place, "cli", "complete", "a", True, text, now)["id"])


def echo(place: paths.Place, data: bytes) -> None:
    with open(place.queue, "ab") as file:
        file.write(data)


def test_an_echo_is_taken(place: paths.Place, read: Reader) -> None:
    say(place, "one")
    echo(place, b'{"ts":"t","from":"me","type":"waiting","msg":"by hand"}\n')
    say(place, "two")
    assert read() == ["one", "by hand", "two"]
    echo(place, b'{"msg":"bare"}\n')
    line = read.values()[0]
    assert line["id"].startswith("n-at-")
    assert (line["from"], line["type"], line["msg"]) == ("unknown", "complete", "bare")


def test_an_echo_into_a_missing_queue(place: paths.Place, read: Reader) -> None:
    echo(place, b'{"msg":"first of all"}\n')
    assert read() == ["first of all"]
    say(place, "then")
    assert read() == ["then"]


def test_a_line_without_a_newline_waits_and_is_closed_by_our_append(place: paths.Place, read: Reader) -> None:
    echo(place, b'{"msg":"half')
    assert read() == []
    echo(place, b' and half"}')
    assert read() == []
    say(place, "ours")
    assert read() == ["half and half", "ours"]


def test_a_line_without_a_newline_is_closed_when_nobody_writes(place: paths.Place, read: Reader) -> None:
    say(place, "ours")
    echo(place, b'{"msg":"last"}')
    assert read() == ["ours"]
    now = os.stat(place.queue).st_mtime
    assert not queue.close_tail(place, now + 1)
    assert queue.close_tail(place, now + queue.OPEN_TAIL_SECONDS)
    assert not queue.close_tail(place, now + 60)
    assert read() == ["last"]


GARBAGE = {
    "words": b"hello\n",
    "half": b'{"msg":"x\n',
    "list": b"[1]\n",
    "null": b"null\n",
    "number": b"12\n",
    "two": b'{"msg":"x"}{"msg":"y"}\n',
    "nul": b"\0\0\0\n",
    "nan": b'{"msg":NaN}\n',
    "endless": b'{"msg":"x","n":1e999}\n',
    "endless-text": b'{"msg":1e999}\n',
    "digits": b'{"msg":' + b"9" * 5000 + b"}\n",
    "deep": b'{"msg":"x","d":' + b"[" * 100_000 + b"\n",
    "deep-whole": b'{"msg":"x","d":' + b"[" * 5000 + b"]" * 5000 + b"}\n",
    "megabyte": b"x" * (1 << 20) + b"\n",
}
TAKEN = {
    "surrogate": (b'{"msg":"\\ud83d"}\n', "\ufffd"),
    "escaped-byte": (b'{"msg":"\\udc80"}\n', "\ufffd"),
    "latin-1": (b'{"msg":"caf\xe9"}\n', "caf\ufffd"),
    "crlf": b'{"msg":"dos"}\r\n',
    "object": (b'{"msg":{"a":[1]}}\n', '{"a":[1]}'),
    "number": (b'{"msg":7,"from":null,"id":3,"type":[]}\n', "7"),
    "control": (b'{"msg":"a\tb\x01"}\n', "a\tb\x01"),
    "megabyte": (b'{"msg":"' + b"x" * (1 << 20) + b'"}\n', "x" * (1 << 20)),
    "empty": (b"{}\n", ""),
    "again": (b'{"msg":"x","again":true}\n', "x"),
    "extra-surrogate": (b'{"msg":"x","e":{"\\ud800":["\\udfff"]}}\n', "x"),
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_is_skipped_with_a_note(place: paths.Place, read: Reader, kind: str) -> None:
    say(place, "before")
    echo(place, GARBAGE[kind])
    say(place, "after")
    assert read() == ["before", "after"]
    assert len(read.skipped) == 1
    echo(place, GARBAGE[kind])
    assert read() == []
    say(place, "more")
    assert read() == ["more"]


@pytest.mark.parametrize("kind", TAKEN)
def test_odd_json_is_taken(place: paths.Place, read: Reader, kind: str) -> None:
    raw, expected = TAKEN[kind] if isinstance(TAKEN[kind], tuple) else (TAKEN[kind], "dos")
    say(place, "before")
    echo(place, raw)  # type: ignore[arg-type]
    say(place, "after")
    assert read() == ["before", expected, "after"]
    assert read.skipped == []
    assert read() == []


@pytest.mark.parametrize("depth", range(940, 1000, 3))
def test_nesting_around_the_limit_stops_no_reader(place: paths.Place, depth: int) -> None:
    echo(place, b'{"msg":"x","d":' + b"[" * depth + b"]" * depth + b"}\n")
    say(place, "after")
    reader = Reader(place, constants.DEFAULT_READER, False)
    assert reader()[-1] == "after"


def test_a_deleted_queue_comes_back(place: paths.Place, read: Reader) -> None:
    say(place, "one")
    assert read() == ["one"]
    say(place, "two")
    os.unlink(place.queue)
    say(place, "three")
    assert read() == ["two", "three"]
    os.unlink(place.queue)
    assert read() == []
    say(place, "four")
    assert read() == ["four"]


@pytest.mark.parametrize("now", [NOW, NOW + 5])
@pytest.mark.parametrize("text", ["two", "x", "a longer one"])
def test_a_queue_emptied_in_place(place: paths.Place, read: Reader, text: str, now: float) -> None:
    """The same inode begins anew, perhaps in the same second and with a line of the same length."""
    say(place, "one")
    assert read() == ["one"]
    os.truncate(place.queue, 0)
    say(place, text, now)
    assert read() == [text]
    os.truncate(place.queue, 0)
    assert read() == []
    say(place, "three", now)
    assert read() == ["three"]


def test_a_queue_that_lost_its_tail(place: paths.Place, read: Reader) -> None:
    say(place, "one")
    short = os.path.getsize(place.queue)
    say(place, "two")
    say(place, "three")
    assert read() == ["one", "two", "three"]
    os.truncate(place.queue, short)
    say(place, "four")
    assert "four" in "".join(read())
    say(place, "five")
    assert read() == ["five"]


def test_a_queue_that_lost_its_tail_and_grew_unseen(place: paths.Place, read: Reader) -> None:
    for text in ("one", "two", "three"):
        say(place, text)
    assert read() == ["one", "two", "three"]
    os.truncate(place.queue, os.path.getsize(place.queue) // 3)
    for text in ("four, longer than that", "five", "six", "seven"):
        say(place, text)
    got = read()
    assert {text.rstrip("!") for text in got} >= {"four, longer than that", "five", "six", "seven"}
    assert all(text.endswith("!") for text in got if text.startswith(("one", "two", "three")))
    say(place, "eight")
    assert read() == ["eight"]


def test_a_queue_that_lost_its_tail_with_a_look_between(place: paths.Place, read: Reader) -> None:
    for text in ("one", "two", "three"):
        say(place, text)
    read()
    os.truncate(place.queue, os.path.getsize(place.queue) // 3)
    assert read() == ["one!"], "nobody knows what stood there"
    for text in ("four", "five, quite a bit longer than the others", "six", "seven"):
        say(place, text)
    assert read() == ["four", "five, quite a bit longer than the others", "six", "seven"]


def test_a_replaced_queue(place: paths.Place, read: Reader) -> None:
    say(place, "one")
    assert read() == ["one"]
    other = Path(place.home) / "other"
    other.write_bytes(b'{"msg":"foreign"}\n')
    os.rename(other, place.queue)
    assert read() == ["foreign"]
    say(place, "ours")
    assert read() == ["ours"]


def test_a_queue_restored_from_a_copy(place: paths.Place, read: Reader) -> None:
    """`cp queue saved; … ; mv saved queue`: another inode, but our lines, and the cursor still knows them."""
    say(place, "one")
    say(place, "two")
    assert read() == ["one", "two"]
    say(place, "three")
    shutil.copy(place.queue, place.home + "/saved")
    os.rename(place.home + "/saved", place.queue)
    assert read() == ["three"]
    say(place, "four")
    assert read() == ["four"]


def test_an_older_queue_restored_in_place(place: paths.Place, read: Reader) -> None:
    say(place, "one")
    shutil.copy(place.queue, place.home + "/saved")
    say(place, "two")
    assert read() == ["one", "two"]
    shutil.copyfile(place.home + "/saved", place.queue)
    say(place, "three")
    assert "three" in {text.rstrip("!") for text in read()}
    say(place, "four")
    assert read() == ["four"]


@pytest.mark.parametrize("broken", [b"", b"garbage\n", b"0 1 2\n", b"\xff\xfe\n", b"x" * 100_000, b"1 2 3 zz\n" * 5])
def test_a_broken_base_stops_nobody(place: paths.Place, read: Reader, broken: bytes) -> None:
    say(place, "one")
    assert read() == ["one"]
    Path(place.queue_base).write_bytes(broken)
    say(place, "two")
    assert "two" in read()
    say(place, "three")
    assert read() == ["three"]


@pytest.mark.parametrize(
    "broken", [b"", b"x", b"1 2", b"-1 5 p\n", b"9" * 5000 + b" 1 p\n", b"\xff 1 p\n", b"1 2 3 4\n"]
)
def test_a_broken_cursor_offers_everything_again(place: paths.Place, broken: bytes) -> None:
    say(place, "one")
    reader = Reader(place, constants.DEFAULT_READER, False)
    assert reader() == ["one"]
    Path(place.cursor(constants.DEFAULT_READER)).write_bytes(broken)
    say(place, "two")
    assert reader() == ["one!", "two!"]
    say(place, "three")
    assert reader() == ["three"]


def test_a_base_that_is_gone_comes_back(place: paths.Place, read: Reader) -> None:
    say(place, "one")
    assert read() == ["one"]
    say(place, "two")
    os.unlink(place.queue_base)
    assert read() == ["two"]


def test_adopting_a_queue_that_lost_its_name_spoils_nothing(place: paths.Place) -> None:
    """Opened, then trimmed by somebody, then unknown: the entry of the new file must not be pushed out."""
    say(place, "one")
    fd = disk.open(place.queue, os.O_RDONLY)
    os.rename(place.queue, place.home + "/old")
    Path(place.queue).write_bytes(b'{"msg":"trimmed"}\n')
    new = disk.open(place.queue, os.O_RDONLY)
    cursors.set_base(place, cursors.entry(500, new))
    before = Path(place.queue_base).read_bytes()
    assert queue.adopt(place, fd) is None
    assert Path(place.queue_base).read_bytes() == before
    os.close(fd)
    os.close(new)


def test_first_lines_alike_are_told_apart_by_their_ids(place: paths.Place) -> None:
    first = say(place, "y" * 300)
    fd = disk.open(place.queue, os.O_RDONLY)
    entry = cursors.entry(0, fd)
    os.close(fd)
    other = Path(place.home) / "other"
    other.write_bytes(Path(place.queue).read_bytes().replace(first.encode(), first[:-1].encode() + b"b"))
    fd = disk.open(str(other), os.O_RDONLY)
    assert cursors.entry(0, fd).split()[2:] != entry.split()[2:]
    os.close(fd)


def test_holds_looks_at_whole_lines(place: paths.Place) -> None:
    assert not queue.holds(place, "msg-1-a")
    echo(place, b'{"msg":"x","id":"msg-1-a"')
    assert not queue.holds(place, "msg-1-a")
    echo(place, b"\n")
    assert not queue.holds(place, "msg-1-a")
    echo(place, b'{"msg":"\\"id\\":\\"msg-1-a\\"","id":"msg-1-a.2"}\n')
    assert not queue.holds(place, "msg-1-a")
    echo(place, b'{"msg":"x","id":"msg-1-a","verified":false}\n')
    assert queue.holds(place, "msg-1-a")


def test_a_failing_trim_does_not_fail_the_append(place: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "TRIM_ABOVE", 1)
    monkeypatch.setattr(queue, "TRIM_STEP", 1)
    os.makedirs(place.home + "/notify/.queue.new.ib-tmp/in-the-way")
    reader = Reader(place, constants.DEFAULT_READER, False)
    for number in range(5):
        say(place, str(number))
        assert reader() == [str(number)]


def test_a_view_of_nothing(place: paths.Place) -> None:
    seen = queue.view(place)
    assert (seen.fd, seen.base, seen.end, seen.read(seen.base, seen.end)) == (-1, 0, 0, (0, b""))
    seen.close()
    seen.close()


def test_a_writer_waits_for_the_queue_lock(place: paths.Place) -> None:
    lock = locks.Lock(place.lock("queue"))
    assert lock.try_take()
    assert not locks.Lock(place.lock("queue")).try_take()
    assert locks.is_held(place.lock("queue"))
    lock.release()
    assert not locks.is_held(place.lock("queue"))
    say(place, "one")


def test_the_copy_is_the_same_file(place: paths.Place) -> None:
    say(place, "one")
    assert os.path.samefile(place.queue, place.safe_copy(place.queue))
    safety_copy.relink(place.queue, place.safe_copy(place.queue))
    assert os.path.samefile(place.queue, place.safe_copy(place.queue))
    assert not [name for name in os.listdir(place.safe + "/notify") if name.endswith(".ib-tmp")]


def test_furthest_and_last_confirmed(place: paths.Place) -> None:
    os.makedirs(place.cursors, exist_ok=True)
    for name, text in (
        ("default", "50 60 -"),
        ("s", "10 90 p"),
        ("t", "20 20 -"),
        ("broken", "?"),
        (".x.ib-tmp", "9 9 -"),
    ):
        Path(place.cursor(name)).write_text(text + "\n")
    assert cursors.furthest(place) == 90
    assert cursors.last_confirmed(place) == 20


def test_messages_survive_a_queue_that_was_emptied(place: paths.Place) -> None:
    kept = messages.send(place, "cli", "a", True, "question", "still here", NOW).item["id"]
    os.truncate(place.queue, 0)
    assert [item["id"] for item in messages.open_ones(place).items] == [kept]


@pytest.mark.parametrize("adopted", [False, True])
@pytest.mark.parametrize("writer_first", [False, True])
@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_queue_begun_anew_by_somebody_else_joins_ours(
    place: paths.Place, read: Reader, adopted: bool, writer_first: bool, how: str
) -> None:
    """`rm queue; echo … >> queue`: what nobody had read yet must not be lost."""
    if adopted:
        say(place, "read before")
        assert read() == ["read before"]
    say(place, "unread")
    if how == "deleted":
        os.unlink(place.queue)
        echo(place, b'{"msg":"foreign"}\n')
    else:
        Path(place.home + "/other").write_bytes(b'{"msg":"foreign"}\n')
        os.rename(place.home + "/other", place.queue)
    if writer_first:
        say(place, "ours")
    assert read() == ["unread", "foreign", "ours"][: 3 if writer_first else 2]
    say(place, "next")
    assert read() == ["next"]
    assert os.path.samefile(place.queue, place.safe_copy(place.queue))


def test_two_reads_of_an_empty_new_file(place: paths.Place, read: Reader) -> None:
    say(place, "unread")
    os.unlink(place.queue)
    Path(place.queue).touch()
    assert read() == ["unread"]
    assert read() == []


def test_a_full_disk_does_not_end_the_listener(place: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    echo(place, b'{"msg":"last"}')

    def full(*args: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk, "write", full)
    assert not queue.close_tail(place, os.stat(place.queue).st_mtime + 60)
    monkeypatch.undo()
    assert queue.close_tail(place, os.stat(place.queue).st_mtime + 60)
