"""A guard for the hot path's cost, in instructions; the full measurements are in bench/."""

import pytest

from bench import hot

pytestmark = pytest.mark.skipif(not hot.available(), reason="valgrind is not installed")


@pytest.mark.timeout(300)
def test_a_hot_command_costs_at_most_twice_an_empty_python() -> None:
    rows = hot.measure(counts=(50,))

    assert [row for row in rows if not row.holds] == []
