"""Messages: kept until acknowledged, and each that wakes has its one queue line."""

import json
from pathlib import Path
from typing import Any

import pytest

from ibstatus.mail import json_list, messages
from ibstatus.model import constants
from ibstatus.project import paths

NOW = 1_800_000_000.0


def send(place: paths.Place, kind: str, text: str = "text", verified: bool = True) -> dict[str, Any]:
    return messages.send(place, "cli", "a", verified, kind, text, NOW).item


def queued(place: paths.Place) -> list[dict[str, Any]]:
    path = Path(place.queue)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("kind", constants.MESSAGE_TYPES)
def test_what_wakes_has_its_queue_line(place: paths.Place, kind: str) -> None:
    item = send(place, kind)
    lines = queued(place)
    if kind == "status":
        assert lines == []
        assert "queued" not in item
    else:
        assert [(line["id"], line["type"], line["msg"]) for line in lines] == [
            (item["id"], constants.WAKES[kind], "text")
        ]
        assert json.loads(Path(place.messages).read_text())[0]["queued"] is True


def test_an_unverified_sender_is_marked_in_both(place: paths.Place) -> None:
    send(place, "question", verified=False)
    assert queued(place)[0]["verified"] is False
    assert messages.open_ones(place).items[0]["verified"] is False


@pytest.mark.parametrize("line_was_written", [False, True])
def test_the_next_writer_mends_a_crash(place: paths.Place, line_was_written: bool) -> None:
    """Stored, but killed before the flag: with its line, or before."""
    item = send(place, "alert", "stuck")
    stored = json_list.load(place, place.messages).items
    del stored[0]["queued"]
    json_list.save(place, place.messages, stored, lambda items: False)
    if not line_was_written:
        Path(place.queue).unlink()
        Path(place.safe_copy(place.queue)).unlink()
    other = send(place, "status")
    assert [line["id"] for line in queued(place)] == [item["id"]]
    assert messages.open_ones(place).items[0]["queued"] is True
    assert messages.acknowledge(place, "cli", "user", [other["id"]], NOW)[0] == [other["id"]]
    assert len(queued(place)) == 1


def test_acknowledge(place: paths.Place) -> None:
    one, two, three = (send(place, "status")["id"] for _ in range(3))
    assert messages.acknowledge(place, "cli", "user", [two, "msg-0-nobody"], NOW)[0] == [two]
    assert messages.acknowledge(place, "cli", "user", [two], NOW)[0] == []
    assert messages.acknowledge(place, "cli", "user", [one, three], NOW)[0] == [one, three]
    assert messages.acknowledge(place, "cli", "user", [one, three], NOW)[0] == []
    assert json.loads(Path(place.messages).read_text()) == []


def test_text_of_every_kind_is_kept(place: paths.Place) -> None:
    for text in ("\u2028\u2029\x85", '"\\', "<ittybitty>", "\t\n  indented", "🤖", "\x1b[31m"):
        item = send(place, "question", text)
        assert messages.open_ones(place).items[-1]["content"] == text
        assert queued(place)[-1]["msg"] == text
        assert queued(place)[-1]["id"] == item["id"]
    raw = Path(place.queue).read_text()
    assert len(raw.splitlines()) == raw.count("\n") == 6
