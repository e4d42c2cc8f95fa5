"""What kind of message a text is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.mail import queue_lines
from ibstatus.model import constants


@pytest.mark.parametrize(
    ("text", "kind", "content"),
    [
        ("? Which port?", "question", "Which port?"),
        ("QUESTION: Which port?", "question", "Which port?"),
        ("QUESTION:Which port?", "question", "Which port?"),
        ("! stuck", "alert", "stuck"),
        ("ALERT: stuck", "alert", "stuck"),
        ("COMPLETE: all", "complete", "all"),
        ("DONE: all", "complete", "all"),
        ("  \n ? spaced", "question", "spaced"),
        ("!important", "status", "!important"),
        ("?Should I?", "question", "Should I?"),
        (" ?Should I?", "question", "Should I?"),
        ("??", "question", "?"),
        ("?!", "question", "!"),
        ("!?", "status", "!?"),
        ("question: lower", "status", "question: lower"),
        ("  plain  ", "status", "  plain  "),
        ("? ! one prefix", "question", "! one prefix"),
        ("DONE: ? one prefix", "complete", "? one prefix"),
        ("? first\n  second\n\tthird", "question", "first\n  second\n\tthird"),
        ("?\n  indented", "question", "  indented"),
        ("?\ttab", "question", "tab"),
        ("?", "question", ""),
        (" ! ", "alert", ""),
        ("DONE:", "complete", ""),
        ("", "status", ""),
    ],
)
def test_split(text: str, kind: str, content: str) -> None:
    assert queue_lines.split(text) == (kind, content)


@given(text=st.text())
def test_nothing_but_the_prefix_goes(text: str) -> None:
    kind, content = queue_lines.split(text)
    assert kind in constants.MESSAGE_TYPES
    if kind == "status":
        assert content == text
    else:
        assert content in text or content == "".join(text.lstrip().partition("\n")[2:])
        assert len(text) - len(content) >= 1
