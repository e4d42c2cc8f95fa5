"""Questions: kept with their answer, which reaches the agent once."""

import json
from pathlib import Path

import pytest

from ibstatus.errors import IbError
from ibstatus.mail import inbox, json_list, questions
from ibstatus.project import paths

NOW = 1_800_000_000.0


@pytest.fixture(autouse=True)
def an_agent(place: paths.Place) -> None:
    Path(place.agent_dir("a")).mkdir(parents=True)


def ask(place: paths.Place, text: str = "which port?") -> str:
    return str(questions.ask(place, "a", "a", True, text, NOW)[0]["id"])


def heard(place: paths.Place) -> list[str]:
    path = Path(inbox.path_of(place, "a"))
    return [json.loads(line)["msg"] for line in path.read_text().splitlines()] if path.exists() else []


def test_an_answer_settles_and_is_heard(place: paths.Place) -> None:
    asked = ask(place)
    item, note = questions.answer(place, "cli", "user", asked, "8080", NOW)
    assert item is not None
    assert (item["status"], item["answer"], item["sent"], note) == ("acknowledged", "8080", True, "")
    assert heard(place) == ["8080"]
    assert questions.pending(place) == []


def test_a_second_answer_is_refused_and_not_swallowed(place: paths.Place) -> None:
    asked = ask(place)
    questions.answer(place, "cli", "user", asked, "8080", NOW)
    with pytest.raises(IbError, match="answered already: 8080"):
        questions.answer(place, "cli", "user", asked, "9090", NOW)
    assert heard(place) == ["8080"]
    assert questions.all_of(place).items[0]["answer"] == "8080"


def test_an_answer_that_was_killed_before_it_went_out(place: paths.Place) -> None:
    """Whoever tries again is told that it stands, and it goes out."""
    asked = ask(place)
    items = json_list.load(place, place.questions, questions.KEY).items
    items[0].update(status=questions.ACKNOWLEDGED, answer="8080", answered_by="user", sent=False)
    json_list.save(place, place.questions, items, lambda items: False, questions.KEY)
    with pytest.raises(IbError, match="answered already"):
        questions.answer(place, "cli", "user", asked, "8080", NOW)
    assert heard(place) == ["8080"]


def test_an_acknowledged_question_can_still_be_answered(place: paths.Place) -> None:
    asked = ask(place)
    assert questions.acknowledge(place, "cli", "user", [asked], NOW)[0] == [asked]
    assert questions.acknowledge(place, "cli", "user", [asked], NOW)[0] == [asked], "settled either way"
    questions.answer(place, "cli", "user", asked, "8080", NOW)
    assert heard(place) == ["8080"]


def test_an_unknown_question(place: paths.Place) -> None:
    assert questions.answer(place, "cli", "user", "q-0-a", "x", NOW)[0] is None
    assert questions.acknowledge(place, "cli", "user", ["q-0-a"], NOW)[0] == []


def test_old_settled_ones_go_and_open_ones_never(place: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "KEPT_ACKNOWLEDGED", 2)
    open_one = ask(place, "open")
    settled = [ask(place, f"settled {number}") for number in range(4)]
    questions.acknowledge(place, "cli", "user", settled, NOW)
    last = ask(place, "last")
    assert [item["id"] for item in questions.all_of(place).items] == [open_one, *settled[2:], last]


def test_each_question_has_one_queue_line(place: paths.Place) -> None:
    ids = [ask(place) for _ in range(3)]
    lines = [json.loads(line) for line in Path(place.queue).read_text().splitlines()]
    assert [line["id"] for line in lines] == ids
    assert {line["msg"] for line in lines} == {"Agent a asks: which port?"}
    assert {line["type"] for line in lines} == {"question"}
