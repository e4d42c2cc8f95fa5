"""The two JSON files when they are broken: set aside, never emptied, said, and the safety copy goes on."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibstatus.mail import json_list, messages, questions
from ibstatus.project import paths
from ibstatus.system import folders
from tests.conftest import Done

NOW = 1_800_000_000.0
BROKEN = {
    "empty": b"",
    "half": b'[\n  {"id":"msg-1-a","from":"a","con',
    "object": b'{"id":"msg-1-a"}',
    "null": b"null\n",
    "numbers": b"[1, 2]\n",
    "text": b"hello\n",
    "no-utf-8": b'[{"id":"\xff"}]',
    "nul": b"\0" * 100,
    "nan": b'[{"id":NaN}]',
    "endless": b'[{"id":1e999}]',
    "two": b"[] []",
    "deep": b"[" * 100_000,
}


def send(place: paths.Place, text: str) -> messages.Sent:
    return messages.send(place, "cli", "a", True, "question", text, NOW)


def texts(place: paths.Place) -> list[str]:
    return [item["content"] for item in messages.open_ones(place).items]


def set_aside(place: paths.Place, of: str = "user-messages.json") -> list[bytes]:
    return [path.read_bytes() for path in Path(place.home).glob(of + ".corrupt-*")]


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_messages_file(place: paths.Place, kind: str) -> None:
    send(place, "one")
    Path(place.messages).write_bytes(BROKEN[kind])
    looked = messages.open_ones(place)
    assert [item["content"] for item in looked.items] == ["one"]
    assert "broken" in looked.note
    assert Path(place.messages).read_bytes() == BROKEN[kind], "a look changes nothing"
    sent = send(place, "two")
    assert texts(place) == ["one", "two"]
    assert set_aside(place) == [BROKEN[kind]]
    assert "corrupt-" in sent.note
    assert "1 from its copy" in sent.note
    Path(place.messages).write_bytes(BROKEN[kind])
    gone, note = messages.acknowledge(place, "cli", "user", [sent.item["id"]], NOW)
    assert gone == [sent.item["id"]]
    assert "corrupt-" in note
    assert texts(place) == ["one"]
    assert set_aside(place) == [BROKEN[kind]] * 2


@pytest.mark.parametrize("kind", [kind for kind in BROKEN if kind != "object"])
def test_a_broken_questions_file(place: paths.Place, kind: str) -> None:
    first = questions.ask(place, "cli", "a", True, "one?", NOW)[0]["id"]
    Path(place.questions).write_bytes(BROKEN[kind])
    assert "broken" in questions.all_of(place).note
    second, note = questions.ask(place, "cli", "a", True, "two?", NOW)
    assert "corrupt-" in note
    assert [item["id"] for item in questions.pending(place)] == [first, second["id"]]
    assert set_aside(place, "user-questions.json") == [BROKEN[kind]]


@pytest.mark.parametrize("original", ["gone", "broken"])
def test_a_broken_copy_stops_nobody_and_is_kept(place: paths.Place, original: str) -> None:
    send(place, "one")
    if original == "gone":
        os.unlink(place.messages)
    else:
        Path(place.messages).write_bytes(b"[")
    Path(place.safe_copy(place.messages)).write_bytes(b"]")
    messages.open_ones(place)
    sent = send(place, "two")
    assert texts(place) == ["two"]
    assert "corrupt-" in sent.note
    assert [path.read_bytes() for path in Path(place.safe).glob("*.corrupt-*")] == [b"]"]
    assert set_aside(place) == ([b"["] if original == "broken" else [])
    assert json.loads(Path(place.safe_copy(place.messages)).read_bytes())[0]["content"] == "two"


def test_the_program_says_it(repo: paths.Place, ib: Callable[..., Done]) -> None:
    assert ib("send", "user-claude", "? one").code == 0
    Path(repo.messages).write_bytes(b'[{"id":')
    done = ib("send", "user-claude", "? two")
    assert done.code == 0
    assert "corrupt-" in done.err
    assert texts(repo) == ["one", "two"]
    Path(repo.messages).write_bytes(b"null")
    done = ib("acknowledge", "--all")
    assert done.code == 0
    assert "corrupt-" in done.err
    assert len(done.out.splitlines()) == 2
    assert texts(repo) == []


ODD = [
    {"id": 7, "type": "question", "content": "a number"},
    {"content": "no id", "type": "question"},
    {"id": "msg-x", "type": ["question"], "content": {"a": 1}, "from": None},
    {"id": "msg-y", "type": "question", "content": "cut emoji \ud83d", "from": "\udc80"},
    {"id": {"a": 1}, "type": {}, "content": None},
    {},
]


def test_odd_items_of_somebody_else_stop_nobody(place: paths.Place) -> None:
    Path(place.messages).write_text(json.dumps(ODD))
    sent = send(place, "mine")
    assert len(messages.open_ones(place).items) == len(ODD) + 1
    lines = [json.loads(line) for line in Path(place.queue).read_text().splitlines()]
    assert [line["id"] for line in lines] == ["7", "msg-y", sent.item["id"]]
    known = [str(item.get("id")) for item in messages.open_ones(place).items]
    gone, _ = messages.acknowledge(place, "cli", "user", known, NOW)
    assert len(gone) == len(ODD) + 1
    assert messages.open_ones(place).items == []


def test_odd_questions_of_somebody_else_stop_nobody(place: paths.Place) -> None:
    odd = [
        {"id": 7, "status": "pending", "question": None, "agent": "../../x"},
        {"id": "q-1", "status": "acknowledged", "answer": "by another tool", "agent": "a"},
        {"status": "pending", "answer": "x", "sent": False},
        {"id": "q-2", "status": "acknowledged", "answer": "x", "sent": False, "agent": "../../.."},
        {"id": "q-3", "status": "acknowledged", "answer": "x", "sent": False, "agent": ""},
        {"id": "q-4", "status": "acknowledged", "answer": "x", "sent": False, "agent": "x" * 500},
        {"id": "q-5", "status": [], "answer": ["x"], "sent": False, "agent": {"a": 1}},
    ]
    Path(place.agent_dir("a")).mkdir(parents=True)
    Path(place.questions).write_text(json.dumps({"questions": odd}))
    questions.ask(place, "cli", "a", True, "mine?", NOW)
    assert len(questions.all_of(place).items) == len(odd) + 1
    assert not list(Path(place.root).rglob("inbox.jsonl")), "an answer went where nobody asked"
    known = [str(item.get("id")) for item in questions.pending(place)]
    settled, _ = questions.acknowledge(place, "cli", "user", known, NOW)
    assert len(settled) == 3
    assert questions.pending(place) == []


def test_the_list_alone_is_accepted_as_questions(place: paths.Place) -> None:
    Path(place.questions).write_text('[{"id":"q-1-a","status":"pending","agent":"a","question":"x"}]')
    questions.ask(place, "cli", "a", True, "mine?", NOW)
    kept = json.loads(Path(place.questions).read_text())["questions"]
    assert [item["question"] for item in kept] == ["x", "mine?"]


def test_names_of_files_set_aside_are_free(tmp_path: Path) -> None:
    path = str(tmp_path / "x")
    assert folders.free_name(path) == path
    Path(path).touch()
    (tmp_path / "x.2").symlink_to("nowhere")
    assert folders.free_name(path) == path + ".3"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    items=st.lists(st.dictionaries(st.text(max_size=8), JSON, max_size=4), max_size=4), key=st.sampled_from(["", "k"])
)
@settings(deadline=None)
def test_what_is_written_is_read(items: list[dict[str, object]], key: str) -> None:
    data = json_list.form(items, key)
    assert json_list.parsed(data, key) == items
    value = json.loads(data)
    assert (value[key] if key else value) == items
