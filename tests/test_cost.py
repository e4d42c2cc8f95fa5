"""A guard for the hot path's cost, in instructions; the full measurements are in bench/."""

import shutil

import pytest

from bench import guard, hot, inject, listing, spawn

pytestmark = pytest.mark.skipif(not hot.available(), reason="valgrind is not installed")


@pytest.mark.timeout(300)
def test_a_hot_command_costs_at_most_twice_an_empty_python() -> None:
    rows = hot.measure(counts=(50,))

    assert [row for row in rows if not row.holds] == []


@pytest.mark.timeout(300)
def test_a_list_of_ten_agents_costs_less_than_twice_an_empty_python() -> None:
    assert listing.cost(10) < 1.8


@pytest.mark.timeout(300)
def test_a_hook_costs_less_than_twice_an_empty_python() -> None:
    rows = [row for row in (*inject.measure(rounds=1), *guard.measure(rounds=1)) if "in time" not in row.what]

    assert [row for row in rows if float(row.figure.split()[0]) > 1.8] == []


@pytest.mark.soak
@pytest.mark.timeout(300)
@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_spawning_an_agent_costs_a_few_times_what_saying_the_version_does() -> None:
    assert spawn.cost() < 4
