"""Names that become ids, paths and file names."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibstatus.model import constants
from ibstatus.project import names

ANY = st.text(alphabet=st.characters(exclude_categories=[]), max_size=300)


@pytest.mark.parametrize("name", ["a", "worker-1", "0", "a-", "x" * 40])
def test_agent_ids(name: str) -> None:
    assert names.is_agent_id(name)


@pytest.mark.parametrize(
    "name", ["", "-a", "A", "a.b", "a/b", "a b", "a\n", "x" * 41, "ä", "a_b", *sorted(constants.RESERVED)]
)
def test_no_agent_ids(name: str) -> None:
    assert not names.is_agent_id(name)


@pytest.mark.parametrize("name", ["a", "Agent_7", "user", "unknown", "x" * 40])
def test_senders(name: str) -> None:
    assert names.is_sender(name)


@pytest.mark.parametrize("name", ["", "-a", "_a", "a.2", "a/b", "a b", "a\n", "x" * 41, "ä", "\ud800"])
def test_no_senders(name: str) -> None:
    assert not names.is_sender(name)


@given(session=ANY)
@example(session="..")
@example(session="default")
@example(session=".ib-tmp")
@example(session="a.ib-tmp")
def test_a_cursor_file_is_one_safe_name(session: str) -> None:
    for name in (names.cursor_file(session), names.listener_file(session)):
        assert 0 < len(name.encode()) <= 230
        assert "/" not in name
        assert "\0" not in name
        assert name[0] != "."
        assert not name.endswith(".ib-tmp")
        assert name != constants.DEFAULT_READER
    assert names.cursor_file(session) != names.listener_file(session)


@given(one=ANY, two=ANY)
@example(one="x" * 300 + "a", two="x" * 300 + "b")
@example(one="a", two="x@61")
def test_two_sessions_have_two_cursors(one: str, two: str) -> None:
    ours = {names.cursor_file(one), names.listener_file(one)}
    theirs = {names.cursor_file(two), names.listener_file(two)}
    assert (one == two) == bool(ours & theirs)


def test_the_ids_that_claude_gives_stay_readable() -> None:
    session = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
    assert names.cursor_file(session) == session
