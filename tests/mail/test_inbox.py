"""An agent's inbox: one line an item, the answer to a question once."""

import json
from pathlib import Path
from typing import Any

import pytest

from ibstatus.mail import inbox
from ibstatus.project import paths

NOW = 1_800_000_000.0


@pytest.fixture(autouse=True)
def an_agent(place: paths.Place) -> None:
    Path(place.agent_dir("a")).mkdir(parents=True)


def items(place: paths.Place) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(inbox.path_of(place, "a")).read_text().splitlines()]


def test_put(place: paths.Place) -> None:
    inbox.put(place, "cli", "a", "boss", True, "line one\nline two", NOW)
    inbox.put(place, "cli", "a", "else", False, "\u2028", NOW)
    assert [item["msg"] for item in items(place)] == ["line one\nline two", "\u2028"]
    assert [item.get("verified") for item in items(place)] == [None, False]


def test_no_agent_no_inbox(place: paths.Place) -> None:
    with pytest.raises(FileNotFoundError):
        inbox.put(place, "cli", "b", "boss", True, "hello", NOW)
    assert not Path(place.agent_dir("b")).exists()


QUESTION = {"id": "q-1-a", "agent": "a", "answer": "8080", "answered_by": "user"}


def test_an_answer_is_delivered_once(place: paths.Place) -> None:
    inbox.deliver_answer(place, dict(QUESTION), NOW)
    inbox.deliver_answer(place, dict(QUESTION), NOW)
    assert [item["msg"] for item in items(place)] == ["8080"]


def test_a_torn_answer_does_not_count(place: paths.Place) -> None:
    Path(inbox.path_of(place, "a")).write_bytes(b'{"id":"a-q-1-a","ts":"","msg":"80')
    inbox.deliver_answer(place, dict(QUESTION), NOW)
    lines = Path(inbox.path_of(place, "a")).read_bytes().splitlines()
    assert len(lines) == 2
    assert json.loads(lines[1])["msg"] == "8080"


def test_an_agent_that_is_gone_waits_for_nothing(place: paths.Place) -> None:
    inbox.deliver_answer(place, QUESTION | {"agent": "gone"}, NOW)
    assert not Path(place.agent_dir("gone")).exists()
