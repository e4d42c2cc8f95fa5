"""One object a line: what is written is read, by us and by everybody."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibstatus.system import jsonl

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=[]))  # lone surrogates too
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(value=JSON)
@example(value="\x7f\x80\x85\x9f\u2028\u2029\u202a\u202e\u2066\u2069\ufeff")
@example(value={"\ud83d": ["\udc80", "\udfff"]})
@example(value=1e308)
def test_what_is_encoded_is_decoded(value: object) -> None:
    text = jsonl.encode(value)
    paired = json.loads(json.dumps(value))  # two halves that meet are one character: in json as well
    assert jsonl.decode(text) == paired
    assert json.loads(text) == paired
    assert len(text.splitlines()) == 1
    assert text.encode().decode() == text
    assert not any(character in text for character in "\x1b\x7f\x9b\u202e")


@given(value=JSON)
def test_what_json_writes_is_read(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, indent=2), json.dumps(value, ensure_ascii=False)):
        assert jsonl.decode(f" \r\n\t{text} \n") == json.loads(text)


@given(text=st.text(alphabet='{}[]",:\\ utrnfalse0123456789.eE+-\n\x00NIay', max_size=30) | st.text(max_size=20))
@example(text="NaN")
@example(text="-Infinity")
@example(text='{"a":1}{"b":2}')
@example(text='"\\ud83d')
@example(text="")
@example(text="1e999")
@example(text="\u00a0[]")
@example(text="[] \u2003")
def test_it_takes_what_json_takes(text: str) -> None:
    def refused(word: str) -> None:
        raise ValueError(word)

    try:
        expected = json.loads(text, strict=False, parse_constant=refused)
    except ValueError:
        with pytest.raises(jsonl.NotJson) as caught:
            jsonl.decode(text)
        assert 0 <= caught.value.at <= len(text)
        assert caught.value.why
    else:
        try:
            assert jsonl.decode(text) == expected
        except jsonl.NotJson as error:
            assert "out of range" in error.why  # noqa: PT017


@pytest.mark.parametrize(
    ("text", "at"),
    [("", 0), ("[1,]", 3), ('{"a" 1}', 5), ("[] x", 2), ("   ", 3), ('{"a":1', 6), ("nul", 0), ("[tru]", 1)],
)
def test_the_position_of_an_error(text: str, at: int) -> None:
    with pytest.raises(jsonl.NotJson) as caught:
        jsonl.decode(text)
    assert caught.value.at == at


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(jsonl.NotJson, match="deep"):
        jsonl.decode(text)


def test_too_long_a_number_is_refused() -> None:
    with pytest.raises(jsonl.NotJson):
        jsonl.decode("9" * 5000)


@given(value=JSON)
def test_both_ways_agree(value: object) -> None:
    """`_json` is private to CPython: without it `json` must do the same."""
    _, hot = jsonl.hot_json()
    _, slow = jsonl.slow_json()
    assert "".join(hot(value, 0)) == "".join(slow(value, 0))


@given(text=st.text(alphabet='{}[]",:\\ truefalsn019.eE+-', max_size=20))
def test_both_ways_refuse_alike(text: str) -> None:
    results = []
    for scan, _ in (jsonl.hot_json(), jsonl.slow_json()):
        try:
            results.append(("read", *scan(text, 0)))
        except (ValueError, StopIteration):
            results.append(("refused",))
    assert results[0] == results[1]


@given(text=ANY_TEXT)
def test_clean_text_can_be_encoded(text: str) -> None:
    cleaned = jsonl.clean(text)
    cleaned.encode()
    assert jsonl.clean(cleaned) == cleaned
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert cleaned == text


@given(data=st.binary())
def test_bytes_of_argv_are_kept_where_they_are_text(data: bytes) -> None:
    assert jsonl.clean(data.decode("utf-8", "surrogateescape")) == data.decode("utf-8", "replace")
    assert jsonl.clean(data.decode("ascii", "surrogateescape")) == data.decode("utf-8", "replace")


@given(values=st.lists(JSON, max_size=5))
def test_items_stand_on_lines_of_their_own(values: list[object]) -> None:
    text = jsonl.items(values)
    assert json.loads(text) == json.loads(json.dumps(values))
    assert len(text.splitlines()) == (len(values) + 2 if values else 1)
