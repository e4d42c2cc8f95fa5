"""How full a context is, by a transcript's end."""

import json

from hypothesis import given
from hypothesis import strategies as st

from ibstatus.claude import transcript_text


def answer(tokens: int, model: str = "claude-sonnet-4", **more: object) -> bytes:
    parts = {"input_tokens": 3, "cache_creation_input_tokens": 0, "cache_read_input_tokens": tokens - 10}
    message = {"model": model, "usage": {**parts, "output_tokens": 7}}
    return json.dumps({"type": "assistant", "message": message, **more}).encode() + b"\n"


def test_the_last_answer_of_the_agent_itself_counts() -> None:
    assert transcript_text.percent(answer(20_000) + answer(100_000) + answer(190_000, isSidechain=True)) == 50


def test_larger_windows() -> None:
    assert transcript_text.percent(answer(100_000, "claude-sonnet-4[1m]")) == 10
    assert transcript_text.percent(answer(100_000), "sonnet[1m]") == 10
    assert transcript_text.percent(answer(300_000)) == 30


def test_a_failed_request_says_nothing() -> None:
    assert transcript_text.percent(answer(100_000) + answer(10, "<synthetic>")) == 50
    assert transcript_text.percent(b'{"type":"user","message":{"content":"Hello"}}\n') is None
    assert transcript_text.percent(b'{"type":"assistant","message":{"content":"no usage"}}\n') is None
    assert transcript_text.percent(b"") is None


def test_after_a_compaction_it_is_empty() -> None:
    assert transcript_text.percent(answer(150_000) + b'{"type":"system","subtype":"compact_boundary"}\n') == 0


def test_counts_that_are_none() -> None:
    bad = {"type": "assistant", "message": {"model": 5, "usage": {"input_tokens": "many", "output_tokens": True}}}
    assert transcript_text.percent(json.dumps(bad).encode() + b"\n") == 0


@given(st.binary(max_size=500))
def test_garbage_is_passed_over(data: bytes) -> None:
    assert (
        transcript_text.percent(answer(100_000) + data.replace(b"\n", b" ").replace(b'"', b"'") + b"\n" + data[:40])
        == 50
    )
