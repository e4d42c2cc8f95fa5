"""What may stand on the board: ids, names, texts, channels, circles."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.board.rules import validation
from ibstatus.errors import IbError, UsageError

HEX = "3f9a1c"
TITLES = {
    "Add dark mode!": "add-dark-mode-3f9a1",
    "  --Fix:  the `thing` (again)--  ": "fix-the-thing-again-3f9a1",
    "Überprüfe das Café": "uberprufe-das-cafe-3f9a1",
    "!!!": "task-3f9a1",
    "日本語": "task-3f9a1",
    "": "task-3f9a1",
    "Implement the settings page with tests": "implement-the-settings-3f9a1",
    "x" * 60: "x" * 24 + "-3f9a1",
    "exactly-twenty-four-char": "exactly-twenty-four-char-3f9a1",
    "one " + "y" * 60: "one-3f9a1",
}


@pytest.mark.parametrize("title", TITLES)
def test_an_id_is_the_titles_words(title: str) -> None:
    assert validation.task_id(title, HEX) == TITLES[title]


@given(st.text())
def test_any_title_makes_an_id_that_can_be_typed(title: str) -> None:
    made = validation.task_id(title, HEX)

    assert validation.is_prefix(made)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", made)
    assert len(made) <= validation.LONGEST_SLUG + 6


@pytest.mark.parametrize(
    ("prefix", "can"),
    [
        ("a", True),
        ("dark-1", True),
        ("7", True),
        ("", False),
        ("-a", False),
        ("A", False),
        ("a%", False),
        ("a\n", False),
    ],
)
def test_what_an_id_can_begin_with(prefix: str, can: bool) -> None:
    assert validation.is_prefix(prefix) == can


def test_the_beginning_of_an_id_means_the_one_that_has_it() -> None:
    known = ["dark-1", "dark-10", "light-2"]

    assert validation.meant("l", known) == "light-2"
    assert validation.meant("dark-1", known) == "dark-1", "an exact one wins"
    with pytest.raises(IbError, match="dark-1, dark-10"):
        validation.meant("dark", known)
    for none in ("x", "", "ark", "Dark-1"):
        with pytest.raises(IbError, match="no task"):
            validation.meant(none, known)


@pytest.mark.parametrize(
    ("given_title", "title"),
    [
        ("Add dark mode", "Add dark mode"),
        ("  two\n lines\t ", "two lines"),
        ("a|b 'c' \"d\"", "a|b 'c' \"d\""),
        ("🤖", "🤖"),
    ],
)
def test_a_title_is_one_line(given_title: str, title: str) -> None:
    assert validation.checked_title(given_title) == title


@pytest.mark.parametrize("bad", ["", "  \n ", "a\0b", "x" * ((1 << 20) + 1)])
def test_no_title(bad: str) -> None:
    with pytest.raises(UsageError):
        validation.checked_title(bad)


@pytest.mark.parametrize("name", ["p", "my project", "é/ü", "a-b_c.d", "x" * 100, "'; DROP TABLE tasks"])
def test_a_name_is_what_can_stand_between_bars(name: str) -> None:
    assert validation.checked_name(f" {name} ", "A project") == name


@pytest.mark.parametrize("bad", ["", " ", "a|b", "a\nb", "a\0b", "a\x1b[31m", "x" * 101, "a\u202eb"])
def test_no_name(bad: str) -> None:
    with pytest.raises(UsageError):
        validation.checked_name(bad, "A project")


@pytest.mark.parametrize("priority", [0, 5, 10])
def test_a_priority(priority: int) -> None:
    assert validation.checked_priority(priority) == priority


@pytest.mark.parametrize("bad", [-1, 11, 10**30])
def test_no_priority(bad: int) -> None:
    with pytest.raises(UsageError):
        validation.checked_priority(bad)


@given(st.text(max_size=200).filter(lambda text: "\0" not in text))
def test_a_text_is_kept_as_it_is(text: str) -> None:
    assert validation.text_of(text, "A body") == text


def test_half_a_character_is_replaced_and_whole_ones_are_kept() -> None:
    assert validation.text_of("a\ud800b", "A body") == "a?b"
    assert validation.text_of("🤖\u202e\x1b", "A body") == "🤖\u202e\x1b"


@pytest.mark.parametrize("bad", ["\0", "a\0", "é" * (1 << 19) + "x"])
def test_no_text(bad: str) -> None:
    with pytest.raises(UsageError):
        validation.text_of(bad, "A body")


@pytest.mark.parametrize("size", [(1 << 20), (1 << 20) - 1])
def test_a_text_of_the_greatest_length(size: int) -> None:
    assert len(validation.text_of("x" * size, "A body")) == size


def test_the_channels_of_a_seed_are_the_usual_ones() -> None:
    assert validation.checked_channels("") == validation.SEEDS
    assert validation.checked_channels(" , ") == validation.SEEDS
    assert validation.checked_channels("task_done, task_claimed,task_done") == ("task_done", "task_claimed")
    assert len(set(validation.CHANNELS)) == len(validation.CHANNELS) == 11


@pytest.mark.parametrize("bad", ["task", "TASK_DONE", "task_done;merge_ready", "ib_board", "*"])
def test_no_channel(bad: str) -> None:
    with pytest.raises(UsageError, match="no channel"):
        validation.checked_channels(bad)


@given(st.text(), st.integers(1, 50))
def test_a_cut_text_is_never_longer_than_asked_for(text: str, longest: int) -> None:
    cut = validation.cut(text, longest)

    assert len(cut) <= longest
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1]))


def test_a_status_reads_well() -> None:
    assert [validation.told(status) for status in ("ready", "pending_approval")] == ["ready", "waiting for approval"]


EDGES = {"b": ["a"], "c": ["b", "x"], "d": ["c", "a"], "x": ["y"]}


@pytest.mark.parametrize(
    ("start", "on", "way"),
    [
        ("a", "b", ["a", "b", "a"]),
        ("a", "c", ["a", "c", "b", "a"]),
        ("y", "d", ["y", "d", "c", "x", "y"]),
        ("a", "a", ["a", "a"]),
        ("new", "new", ["new", "new"]),
        ("d", "a", []),
        ("b", "x", []),
        ("new", "d", []),
        ("d", "new", []),
    ],
)
def test_a_circle_is_found_with_its_way_round(start: str, on: str, way: list[str]) -> None:
    assert validation.way_round(EDGES, start, on) == way


@given(
    st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=4), max_size=10),
    st.integers(0, 9),
    st.integers(0, 9),
)
def test_every_way_round_is_a_way(numbers: dict[int, list[int]], start: int, on: int) -> None:
    """Whatever circles there are already, it ends, and each step of what it found is there."""
    edges = {str(key): [str(value) for value in values] for key, values in numbers.items()}

    way = validation.way_round(edges, str(start), str(on))

    if way:
        assert (way[:2], way[-1]) == ([str(start), str(on)], str(start))
        assert all(after in edges.get(before, []) for before, after in pairwise(way[1:]))
    else:
        assert not reaches(edges, str(on), str(start))


def reaches(edges: dict[str, list[str]], at: str, goal: str) -> bool:
    seen, todo = set[str](), [at]
    while todo:
        here = todo.pop()
        if here == goal:
            return True
        if here not in seen:
            seen.add(here)
            todo += edges.get(here, [])
    return False
