"""Times from every writer, and ages."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.system import timestamps
from ibstatus.system.text import times


@pytest.mark.parametrize(
    "text",
    ["2026-01-11T15:30:00Z", "2026-01-11T09:30:00-0600", "2026-01-11T09:30:00-06:00", "2026-01-11T17:00:00+01:30"],
)
def test_every_form_is_the_same_moment(text: str) -> None:
    assert times.epoch(text) == 1768145400.0


def test_local_time_without_zone_is_read_as_local() -> None:
    now = 1768145400.0

    assert times.epoch(time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))) == now


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-11", "0000-00-00T00:00:00Z"])
def test_what_is_no_time(text: str) -> None:
    assert times.epoch(text) is None
    assert times.age_of(text, 5) == "?"


@given(st.integers(min_value=0, max_value=4_000_000_000))
def test_what_we_write_we_read(now: int) -> None:
    assert times.epoch(timestamps.utc(now)) == now
    assert times.epoch(timestamps.queue(now)) == now
    assert times.epoch(timestamps.log(now)) == now
    assert times.epoch(timestamps.utc_ms(now + 0.5)) == now + 0.5


@given(st.text())
def test_a_log_entry_is_one_line(text: str) -> None:
    entry = timestamps.log_entry(text, 0)

    assert len(entry.splitlines()) == 1


@pytest.mark.parametrize(
    ("seconds", "bucket"),
    [(-5, "0m"), (59, "0m"), (60, "1m"), (299, "1m"), (300, "5m"), (900, "15m"), (1800, "30m"), (3599, "30m"),
     (3600, "1h"), (86399, "23h"), (86400, "1d"), (400 * 86400, "400d")],
)  # fmt: skip
def test_an_age_in_the_node_seldom_changes(seconds: float, bucket: str) -> None:
    assert times.bucket(seconds) == bucket
