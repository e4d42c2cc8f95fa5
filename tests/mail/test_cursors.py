"""Cursor files: what is written is read, and what is broken offers everything again."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.mail import cursors, delivery
from ibstatus.project import paths

OFFSETS = st.integers(0, 10**15)


@given(done=OFFSETS, more=OFFSETS, prompt=st.text(max_size=300))
def test_what_is_written_is_read(done: int, more: int, prompt: str) -> None:
    cursor = delivery.Cursor(done, done + more, prompt)
    data = cursors.form(cursor)
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    assert cursors.parse(data) == delivery.Cursor(done, done + more, cursors.word(prompt) or delivery.ORPHAN)


@given(prompt=st.text(alphabet=st.characters(), max_size=300))
def test_a_word_is_its_own_word(prompt: str) -> None:
    word = cursors.word(prompt)
    assert cursors.word(word) == word
    assert not set(word) & set(" \n\t")


@given(data=st.binary(max_size=120))
def test_any_bytes_are_a_cursor(data: bytes) -> None:
    cursor = cursors.parse(data)
    assert cursor.done >= 0
    assert cursor.offered >= 0


def test_a_shorter_line_written_over_a_longer_one(tmp_path: Path) -> None:
    place = paths.Place(str(tmp_path), str(tmp_path / ".git"))
    held = cursors.Held(place, "s", delivery.first(0))
    for prompt in ("x" * 150, "y"):
        held.write(delivery.Cursor(1, 2, prompt))
        assert cursors.read(place, "s") == delivery.Cursor(1, 2, prompt)
    held.close()


@pytest.mark.parametrize("name", ["unknown", "x@00"])
def test_a_reader_that_never_read(tmp_path: Path, name: str) -> None:
    place = paths.Place(str(tmp_path), str(tmp_path / ".git"))
    assert cursors.read(place, name) is None
    assert cursors.names(place) == []
    assert (cursors.furthest(place), cursors.last_confirmed(place)) == (0, 0)
