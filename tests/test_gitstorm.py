"""git beside a live writer: a twentieth of what bench/gitstorm.py does, and no time asserted."""

import pytest

from bench import gitstorm


def test_the_status_is_empty_after_every_update() -> None:
    (row,) = gitstorm.updates(gitstorm.UPDATES // 20)

    assert row.holds, row.figure


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "local",
    [pytest.param(True, id="block-kept-out"), pytest.param(False, id="block-committed", marks=pytest.mark.soak)],
)
def test_no_command_fails_that_would_not_fail_without_us(local: bool) -> None:
    told: list[str] = []
    (row,) = gitstorm.storm(gitstorm.ROUNDS // 20, local, told.append)

    assert row.holds, told
