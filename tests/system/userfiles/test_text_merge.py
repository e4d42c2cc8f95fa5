"""Merging by lines: both changes, or None; and the node of the file stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.system.userfiles import text_merge
from ibstatus.system.userfiles.text_merge import around_node, merged

BLOCK = b"a\n<ittybitty>\n<ittybitty-status>\n%s\n</ittybitty-status>\n</ittybitty>\nz\n"
EOLS = st.sampled_from([b"\n", b"\r\n", b"\r", b""])
LINES = st.lists(st.builds(bytes.__add__, st.sampled_from([b"", b"a", b"b", b"\xff", b"\0"]), EOLS), max_size=12)
TEXTS = LINES.map(b"".join)


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "whole"),
    [
        (b"1\n2\n3\n", b"0\n1\n2\n3\n", b"1\n2\n3\n4\n", b"0\n1\n2\n3\n4\n"),
        (b"1\n2\n3\n", b"1\nx\n3\n", b"1\n2\n3\n4\n", b"1\nx\n3\n4\n"),
        (b"1\n2\n3\n", b"1\n3\n", b"1\n2\n3\n4\n", b"1\n3\n4\n"),
        (b"1\n2\n3\n", b"1\n3\n", b"1\n3\n", b"1\n3\n"),
        (b"1\n2\n3\n", b"1\nx\n3\n", b"1\ny\n3\n", None),
        (b"1\n2\n3\n", b"1\n3\n", b"1\ny\n3\n", None),
        (b"1\n", b"1\na\n", b"1\nb\n", b"1\na\nb\n"),
        (b"1\n", b"1\na\n", b"1\na\nb\n", b"1\na\nb\n"),
        (b"1\n", b"1\na\nb\n", b"1\na\n", b"1\na\nb\n"),
        (b"1\r\n", b"1\r\na", b"1\r\nb\r\n", b"1\r\na\nb\r\n"),
        (b"1\r2\r", b"1\r2\rx", b"1\r2\r", b"1\r2\rx"),
        (b"", b"a\n", b"b\n", b"a\nb\n"),
        (b"1\n2\n3\n", b"1\n2\n", b"3\n", b""),
    ],
    ids=lambda value: repr(value)[2:-1] if value is not None else "conflict",
)
def test_merged(base: bytes, mine: bytes, theirs: bytes, whole: bytes | None) -> None:
    assert merged(base, mine, theirs) == whole


@given(TEXTS, TEXTS)
def test_a_side_that_did_nothing_gives_way(base: bytes, other: bytes) -> None:
    assert merged(base, base, other) == other
    assert merged(base, other, base) == other
    assert merged(base, other, other) == other


def inserted(base: list[bytes], places: list[int], who: bytes) -> list[bytes]:
    lines = list(base)
    for number, place in enumerate(sorted(places, reverse=True)):
        lines.insert(min(place, len(lines)), b"%s %d\n" % (who, number))
    return lines


PLACES = st.lists(st.integers(0, 8), max_size=5)


@given(st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n"]), unique=True), PLACES, PLACES)
def test_what_either_side_inserts_is_there_once(base: list[bytes], mine: list[int], theirs: list[int]) -> None:
    one, other = inserted(base, mine, b"mine"), inserted(base, theirs, b"theirs")

    whole = merged(b"".join(base), b"".join(one), b"".join(other))

    assert whole is not None
    assert sorted(whole.splitlines(True)) == sorted(base + [line for line in one + other if b" " in line])


@given(TEXTS, TEXTS, TEXTS)
def test_a_merge_has_every_line_that_either_side_added(base: bytes, mine: bytes, theirs: bytes) -> None:
    whole = merged(base, mine, theirs)
    if whole is None:
        return
    lines, old = text_merge.split(whole), text_merge.split(base)
    for side in (mine, theirs):
        for line in text_merge.split(side):
            if line not in old:
                assert line in lines or line + b"\n" in lines


def test_the_node_of_the_file_stays() -> None:
    theirs = BLOCK % b"newest"
    assert around_node(BLOCK % b"old", BLOCK % b"other", theirs) == theirs
    assert around_node(BLOCK % b"old", (BLOCK % b"old") + b"late\n", theirs) == theirs + b"late\n"
    assert around_node(BLOCK % b"old", b"0\n" + (BLOCK % b"x"), theirs + b"9\n") == b"0\n" + theirs + b"9\n"
    assert around_node(BLOCK % b"old", (BLOCK % b"old").replace(b"z", b"y"), theirs.replace(b"z", b"x")) is None


def test_the_node_does_not_move_into_a_fence() -> None:
    fence = b"```\n</ittybitty>\n```\n"
    theirs = fence + (BLOCK % b"new") + fence

    whole = around_node(fence + (BLOCK % b"old") + fence, b"top\n" + fence + (BLOCK % b"old") + fence, theirs)

    assert whole == b"top\n" + theirs


def test_a_save_whose_lines_are_all_there_in_another_order_is_no_conflict() -> None:
    assert around_node(b"1\n2\n3\n", b"2\n1\n3\n4\n", b"3\n1\n2\n4\n5\n") == b"3\n1\n2\n4\n5\n"
    assert around_node(b"1\n2\n3\n", b"2\n1\n", b"3\n1\n2\n") != b"3\n1\n2\n"


def test_a_part_that_differs_too_much_is_left_to_the_person() -> None:
    def text(word: bytes) -> bytes:
        return b"".join(b"%s %d\n" % (word, number) for number in range(text_merge.LARGEST))

    assert merged(text(b"a"), text(b"b"), text(b"c")) is None


def test_a_last_line_without_its_end_is_not_joined_with_what_follows() -> None:
    assert merged(b"a\n", b"a\nfoo\n", b"X") == b"X\nfoo\n"
