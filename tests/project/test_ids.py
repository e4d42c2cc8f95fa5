"""Ids are never given twice, whatever the clock does."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ibstatus.project import ids, paths

NOW = 1_800_000_000
YEAR = 365 * 86_400


@pytest.fixture
def place(tmp_path: Path) -> paths.Place:
    return paths.Place(str(tmp_path), str(tmp_path / ".git"))


def test_the_form(place: paths.Place) -> None:
    assert ids.take(place, "msg", "a", NOW + 0.9) == f"msg-{NOW}-a"
    assert ids.take(place, "msg", "a", NOW) == f"msg-{NOW}-a.2"
    assert ids.take(place, "msg", "b", NOW) == f"msg-{NOW}-b"
    assert ids.take(place, "q", "a", NOW) == f"q-{NOW}-a"
    assert ids.take(place, "msg", "a", NOW) == f"msg-{NOW}-a.3"
    assert ids.take(place, "msg", "a", NOW + 1) == f"msg-{NOW + 1}-a"
    assert ids.take(place, "msg", "a", NOW) == f"msg-{NOW + 1}-a.2", "the clock went back"


MOVES = st.lists(
    st.tuples(st.sampled_from([0, 0, 0, 1, -1, 60, -3600, 86_401, -86_401, YEAR, -YEAR]), st.sampled_from("ab")),
    max_size=60,
)


@given(moves=MOVES)
@example(moves=[(0, "a"), (YEAR, "a"), (-YEAR, "a"), (0, "a"), (1, "a")])
@example(moves=[(0, "a"), *[(-1, "a")] * 150])
@settings(deadline=None)
def test_unique_with_any_clock(moves: list[tuple[int, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = paths.Place(folder, folder + "/.git")
        now, taken = NOW, []
        for step, name in moves:
            now += step
            taken.append(ids.take(place, "n", name, now))
        assert len(set(taken)) == len(taken)


def test_a_crowded_second_of_the_future_is_left(place: paths.Place) -> None:
    """A clock that was a year ahead for a moment: the ledger stays small, and ids unique."""
    taken = [ids.take(place, "n", "a", NOW + YEAR)] + [ids.take(place, "n", "a", NOW + n) for n in range(500)]
    assert len(set(taken)) == len(taken)
    assert os.path.getsize(place.home + "/ids/n") < (ids.CROWDED + 1) * 20


@pytest.mark.parametrize("ledger", [b"", b"x", b"\n", b"-5 a\n", b"9" * 5000 + b" a\n", b"\xff\xfe", b" a\n"])
def test_a_broken_ledger_stops_nobody(place: paths.Place, ledger: bytes) -> None:
    os.makedirs(place.home + "/ids")
    Path(place.home + "/ids/n").write_bytes(ledger)
    assert ids.take(place, "n", "a", NOW) == f"n-{NOW}-a"
    assert ids.take(place, "n", "a", NOW) == f"n-{NOW}-a.2"


def test_a_torn_ledger_line_counts_for_the_next_one(place: paths.Place) -> None:
    os.makedirs(place.home + "/ids")
    Path(place.home + "/ids/n").write_bytes(b"%d a\n%d a" % (NOW, NOW))
    assert ids.take(place, "n", "a", NOW) == f"n-{NOW}-a.3"
    assert ids.take(place, "n", "a", NOW) == f"n-{NOW}-a.4"


def test_a_name_with_a_dot_cannot_pass_for_a_second_id(place: paths.Place) -> None:
    given = [ids.take(place, "msg", name, 1000.0) for name in ("a", "a", "a.2", "a-2")]

    assert given == ["msg-1000-a", "msg-1000-a.2", "msg-1000-a-2", "msg-1000-a-2.2"]
