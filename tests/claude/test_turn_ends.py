"""The last line of what an agent says."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.claude import hook_events
from tests.conftest import PROJECT

FIXTURES = sorted((PROJECT / "fixtures" / "turn-ends").iterdir())
UPSTREAM = PROJECT.parent / "shared" / "upstream-fixtures" / "detect-state-message"
PHRASES = {"complete": hook_events.COMPLETE_PHRASE, "waiting": hook_events.WAITING_PHRASE}


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_fixture(path: Path) -> None:
    expected = path.stem.partition("-")[0]

    assert expected in ("complete", "waiting", "none")
    assert (hook_events.end_of(path.read_bytes().decode()) or "none") == expected


@pytest.mark.skipif(not UPSTREAM.is_dir(), reason="../shared/upstream-fixtures is not here")
def test_the_fixtures_of_the_older_tool() -> None:
    for path in UPSTREAM.iterdir():
        assert (hook_events.end_of(path.read_text()) or "unknown") == path.stem.partition("-")[0], path.stem


@given(st.text(), st.sampled_from(sorted(PHRASES)), st.text(hook_events.BLANK + "\n"))
def test_a_phrase_on_the_last_line_counts_whatever_stands_before(before: str, state: str, blanks: str) -> None:
    assert hook_events.end_of(f"{before}\n{PHRASES[state]}{blanks}") == state


@given(st.text(), st.sampled_from(sorted(PHRASES.values())), st.text("abcXYZ?~ ", min_size=1))
def test_a_phrase_with_other_words_does_not(before: str, phrase: str, more: str) -> None:
    if more.strip(hook_events.BLANK):
        assert hook_events.end_of(f"{before}\n{phrase} {more}") == ""
        assert hook_events.end_of(f"{before}\n{more}{phrase}") == ""


def test_much_of_nothing_is_read_once() -> None:
    assert hook_events.end_of("WAITING\n" + "-\n" * 300_000) == "waiting"
    assert hook_events.end_of("x\n" + " " * 1_000_000) == ""
