"""Queue bytes to lines: whatever stands there, what can be told is told."""

import json

from hypothesis import given
from hypothesis import strategies as st

from ibstatus.mail import queue_lines
from ibstatus.system import jsonl

RAW = st.one_of(
    st.binary(max_size=30).filter(lambda data: b"\n" not in data),
    st.dictionaries(
        st.sampled_from(["ts", "from", "type", "msg", "id", "again", "verified", "x"]),
        st.none() | st.booleans() | st.text(max_size=5) | st.integers() | st.lists(st.text(max_size=3), max_size=2),
    ).map(lambda value: json.dumps(value).encode()),
)


@given(raws=st.lists(RAW, max_size=8), start=st.integers(0, 10**9), repeats=st.integers(0, 8))
def test_every_line_is_told_or_skipped(raws: list[bytes], start: int, repeats: int) -> None:
    data = b"".join(raw + b"\n" for raw in raws)
    fresh_from = start + sum(len(raw) + 1 for raw in raws[:repeats])
    told = queue_lines.told(data, start, fresh_from)
    blank = sum(not raw.strip() for raw in raws)
    assert len(told.values) + len(told.skipped) + blank == len(raws)
    assert len(told.again) + len(told.fresh) == len(told.values)
    assert [line.get("again", False) for line in told.values] == [True] * len(told.again) + [False] * len(told.fresh)
    assert told.again + told.fresh == [line["id"] for line in told.values]
    printed = told.text().splitlines()
    assert [json.loads(line) for line in printed] == told.values
    for line in told.values:
        assert list(line)[:5] == ["ts", "from", "type", "msg", "id"]
        assert all(isinstance(line[key], str) for key in queue_lines.KNOWN)
        assert line["id"]


def test_a_foreign_line_has_its_id_from_its_place() -> None:
    told = queue_lines.told(b'{"msg":"a"}\n{"msg":"b","id":""}\n', 100, 0)
    assert told.fresh == ["n-at-100", "n-at-112"]


def test_a_skipped_line_says_where() -> None:
    told = queue_lines.told(b"{}\noops\n", 100, 0)
    assert told.skipped == ["skipped 4 bytes at offset 103 of the queue: no JSON object"]


def test_what_can_be_read_but_not_written_is_skipped() -> None:
    """Around the limit of nesting: wherever it lies, no line stops the others."""
    for depth in range(900, 1010):
        told = queue_lines.told(b'{"msg":"x","d":' + b"[" * depth + b"]" * depth + b'}\n{"msg":"y"}\n', 0, 0)
        assert told.values[-1]["msg"] == "y"
        assert len(told.text().splitlines()) == len(told.values)


def test_text_in_a_line_cannot_break_it() -> None:
    told = queue_lines.told((jsonl.encode({"msg": "a\u2028b\x85c\r\nd\x1b[2J"}) + "\n").encode(), 0, 0)
    assert len(told.text().splitlines()) == 1
