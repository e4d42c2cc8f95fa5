"""What is left over of agents, judged: in doubt it stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.agents.rules import leftovers
from ibstatus.agents.rules.leftovers import Leftover, Remains

GONE = Remains(
    has_meta=False, has_tree=True, has_branch=True, known_to_git=True, running=False, held="", files=[], own=None,
    alone=0, papers=[],
)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({}, "merged-clean"),
        ({"files": ["a"]}, "merged-dirty"),
        ({"alone": 1}, "unknown"),
        ({"alone": None}, "unknown"),
        ({"files": None}, "unknown"),
        ({"papers": ["inbox.jsonl"]}, "unknown"),
        ({"running": True}, "active"),
        ({"held": "process 1 works in it"}, "active"),
        ({"has_tree": False, "has_branch": False, "known_to_git": False}, "merged-clean"),
        ({"has_meta": True}, None),
        ({"has_meta": True, "own": 2}, "merged-clean"),
        ({"has_meta": True, "own": 2, "files": ["a"]}, "merged-dirty"),
        ({"has_meta": True, "own": 2, "alone": 1}, None),
        ({"has_meta": True, "own": 0}, None),
        ({"has_meta": True, "own": 2, "running": True}, None),
    ],
)
def test_judged(change: dict[str, object], state: str | None) -> None:
    judged = leftovers.judged(GONE._replace(**change))  # type: ignore[arg-type]

    assert (judged and judged[0]) == state


remains = st.builds(
    Remains,
    has_meta=st.booleans(),
    has_tree=st.booleans(),
    has_branch=st.booleans(),
    known_to_git=st.booleans(),
    running=st.booleans(),
    held=st.sampled_from(["", "x"]),
    files=st.sampled_from([None, [], ["a"]]),
    own=st.sampled_from([None, 0, 1]),
    alone=st.sampled_from([None, 0, 1]),
    papers=st.sampled_from([[], ["agent.log"]]),
).filter(lambda seen: not (seen.has_meta and seen.papers))  # an agent's own are not looked for


@given(remains)
def test_nothing_that_could_be_missed_is_certain(seen: Remains) -> None:
    judged = leftovers.judged(seen)

    if judged is not None and judged[0] == "merged-clean":
        assert not seen.running
        assert not seen.held
        assert not seen.papers
        assert seen.files == [] or not (seen.has_tree or seen.known_to_git)
        assert seen.alone == 0 or not (seen.has_tree or seen.known_to_git)


def test_only_what_is_certain_goes_unless_it_is_named() -> None:
    found = [Leftover("x", state, "", state, "") for state in ("merged-clean", "merged-dirty", "active", "unknown", "expired")]  # type: ignore[arg-type]  # fmt: skip  # noqa: E501

    assert [one.name for one in leftovers.removable(found, ())] == ["merged-clean", "expired"]
    assert [one.name for one in leftovers.removable(found, ("unknown",))] == ["merged-clean", "unknown", "expired"]


@pytest.mark.parametrize(("count", "text"), [(0, "0B"), (1023, "1023B"), (1 << 20, "1M"), (1 << 50, "1024T")])
def test_sizes(count: int, text: str) -> None:
    assert leftovers.size(count) == text
