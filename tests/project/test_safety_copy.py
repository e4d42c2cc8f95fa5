"""`git clean -fdx` in the root, and what the safety copy brings back."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.mail import cursors, delivery, json_list, listener_reader, messages, post, questions, session_reader
from ibstatus.project import home, ids, paths, safety_copy
from ibstatus.system import disk
from tests.conftest import Done, git

NOW = 1_800_000_000.0


def say(place: paths.Place, text: str) -> str:
    return str(post.notify(place, "cli", "complete", "a", True, text, time.time())["id"])


def clean(place: paths.Place) -> None:
    """Both forms: the second one also takes nested repositories."""
    git(place.root, "clean", "-fdxq")
    git(place.root, "clean", "-ffdxq")
    assert not os.path.exists(place.home)


def read(place: paths.Place, reader: str = "default") -> list[str]:
    home.enter(place)
    reading = listener_reader.Tap(place, reader)
    told = reading.pour(lambda data: None)
    reading.close()
    return [line["msg"] + "!" * ("again" in line) for line in told.values]


@pytest.fixture
def place(repo: paths.Place) -> paths.Place:
    home.enter(repo)
    return repo


def test_everything_unsettled_comes_back(
    repo: paths.Place, ib: Callable[..., Done], agent: Callable[..., Path]
) -> None:
    """As a user sees it, with the real program and the real git."""
    agent(repo, "a")
    assert ib("send", "user-claude", "? old").code == 0
    assert len(ib("listen", "--timeout", "0").out.splitlines()) == 1
    assert ib("send", "user-claude", "? which port?").code == 0
    assert ib("ask", "--id", "a", "which db?").code == 0
    assert ib("notify", "built").code == 0
    before = json.loads(Path(repo.messages).read_bytes())
    identity = Path(repo.repo_id).read_bytes()
    clean(repo)
    lines = [json.loads(line) for line in ib("listen", "--timeout", "0").out.splitlines()]
    assert [line["msg"] for line in lines if line["from"] != "a"] == ["which port?", "built"]
    assert not any("again" in line for line in lines)
    assert json.loads(Path(repo.messages).read_bytes()) == before
    assert Path(repo.repo_id).read_bytes() == identity
    assert len(ib("acknowledge", *[item["id"] for item in before]).out.splitlines()) == 2


def test_queue_cursors_and_offsets_come_back(place: paths.Place) -> None:
    for text in ("one", "two"):
        say(place, text)
    assert read(place) == ["one", "two"]
    say(place, "three")
    with session_reader.hear(place, "s", delivery.PROMPT, "p1") as offer:
        assert len(offer.told.values) == 3
        offer.settle()
    clean(place)
    assert read(place) == ["three"]
    with session_reader.hear(place, "s", delivery.STOP, "p1") as offer:
        assert len(offer.confirmed) == 3
    clean(place)
    home.enter(place)
    say(place, "four")
    clean(place)
    assert read(place) == ["four"]
    with session_reader.hear(place, "s", delivery.PROMPT, "p2") as offer:
        assert [line["msg"] for line in offer.told.values] == ["four"]


def test_it_happens_while_a_listener_is_open(place: paths.Place) -> None:
    say(place, "one")
    reading = listener_reader.Tap(place, "default")
    got: list[str] = []

    def look() -> None:
        if reading.changed():
            told = reading.poured(lambda data: None)
            got.extend(line["msg"] + "!" * ("again" in line) for line in told.values)

    look()
    say(place, "two")
    clean(place)
    look()
    look()
    home.enter(place)
    say(place, "three")
    look()
    clean(place)
    home.enter(place)
    say(place, "four")
    look()
    reading.close()
    assert got == ["one", "two", "three", "four"]
    assert read(place) == []


def test_a_lock_that_was_cleaned_away_is_noticed(place: paths.Place) -> None:
    lock = listener_reader.lock_of(place, "default")
    assert lock.try_take()
    assert lock.is_mine()
    clean(place)
    assert not lock.is_mine()
    lock.release()
    assert not lock.is_mine()


def test_ids_are_not_given_again(place: paths.Place) -> None:
    first = ids.take(place, "msg", "a", NOW)
    clean(place)
    home.enter(place)
    assert ids.take(place, "msg", "a", NOW) == first + ".2"


def test_questions_and_their_answers_come_back(place: paths.Place) -> None:
    open_one = questions.ask(place, "cli", "a", True, "which?", NOW)[0]["id"]
    settled = questions.ask(place, "cli", "a", True, "how?", NOW)[0]["id"]
    questions.acknowledge(place, "cli", "user", [settled], NOW)
    clean(place)
    home.enter(place)
    assert [item["id"] for item in questions.pending(place)] == [open_one]


def test_what_was_restored_does_not_share_its_bytes_with_the_copy(place: paths.Place) -> None:
    """An editor that writes in place after a restore must not spoil the copy too."""
    kept = messages.send(place, "cli", "a", True, "question", "still here", NOW).item["id"]
    clean(place)
    home.enter(place)
    with open(place.messages, "r+b") as file:
        file.truncate(5)
    new = messages.send(place, "cli", "a", True, "question", "next", NOW)
    assert "1 from its copy go on" in new.note
    assert [item["id"] for item in messages.open_ones(place).items] == [kept, new.item["id"]]


def test_without_hard_links(place: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that has none: the copy is a copy, and what is restored is whole."""

    def refused(*args: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(disk, "link", refused)
    for text in ("one", "two"):
        say(place, text)
    assert read(place) == ["one", "two"]
    say(place, "three")
    kept = messages.send(place, "cli", "a", True, "status", "kept", NOW).item["id"]
    clean(place)
    assert [text.rstrip("!") for text in read(place)][-1] == "three"
    assert [item["id"] for item in messages.open_ones(place).items] == [kept]
    say(place, "four")
    assert read(place) == ["four"]


def test_restore_never_overwrites(place: paths.Place) -> None:
    messages.send(place, "cli", "a", True, "status", "kept", NOW)
    Path(place.messages).write_text("[]\n")
    assert safety_copy.restore(place, place.messages)
    assert Path(place.messages).read_text() == "[]\n"
    say(place, "one")
    os.unlink(place.queue)
    Path(place.queue).write_text("{}\n")
    assert safety_copy.restore(place, place.queue)
    assert Path(place.queue).read_text() == "{}\n"


def test_a_copy_that_cannot_be_read_is_not_an_empty_one(place: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    messages.send(place, "cli", "a", True, "status", "kept", NOW)
    os.unlink(place.messages)
    real = disk.open

    def broken(path: str, *args: int) -> int:
        if path == place.safe_copy(place.messages):
            raise OSError(5, "Input/output error", path)
        return real(path, *args)

    monkeypatch.setattr(disk, "open", broken)
    with pytest.raises(OSError, match="Input/output"):
        messages.send(place, "cli", "a", True, "status", "new", NOW)
    monkeypatch.undo()
    assert [item["content"] for item in json_list.load(place, place.messages).items] == ["kept"]
    assert cursors.names(place) == []


def test_a_second_listener_after_a_clean_repeats_nothing(place: paths.Place) -> None:
    """The lock file is gone, so a second one gets the lock; the cursor is one and the same file."""
    say(place, "one")
    first = listener_reader.Tap(place, "default")
    assert len(first.pour(lambda data: None).values) == 1
    clean(place)
    home.enter(place)
    assert listener_reader.lock_of(place, "default").try_take()
    say(place, "two")
    assert read(place) == ["two"]
    assert first.pour(lambda data: None).values == []
    say(place, "three")
    assert [line["msg"] for line in first.pour(lambda data: None).values] == ["three"]
    assert read(place) == []
    first.close()
