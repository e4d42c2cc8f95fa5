"""What a check leaves out of a sweep is what lies between; its ends it always tries."""

import pytest

from tests import sweeps

STEPS = 57


@pytest.mark.parametrize("every", [1, 2, 10, 100])
@pytest.mark.parametrize("last", [1, 2, 9, 10, 11, STEPS])
def test_the_first_the_last_and_the_end_are_tried(monkeypatch: pytest.MonkeyPatch, every: int, last: int) -> None:
    monkeypatch.setattr(sweeps, "SOAK", False)
    tried = []
    sweep = sweeps.Sweep(every)
    for at in sweep:
        tried.append(at)
        sweep.tell(at <= last)

    assert {1, last, last + 1} <= {*tried}
    assert sweep.last == last
    assert len(tried) == len({*tried}) <= last // every + every.bit_length() + 3


def test_a_soak_tries_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "SOAK", True)
    tried = []
    sweep = sweeps.Sweep(10)
    for at in sweep:
        tried.append(at)
        sweep.tell(at <= STEPS)

    assert tried == [*range(1, STEPS + 2)]
    assert sweeps.spread(tried, 3) == tried


def test_a_sweep_that_never_passes_ends() -> None:
    sweep = sweeps.Sweep(10, longest=STEPS)
    steps = iter(sweep)
    for _ in range(1, STEPS + 1, sweep.every):
        next(steps)
        sweep.tell(True)

    with pytest.raises(AssertionError, match="never passes"):
        next(steps)


def test_a_spread_is_even(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "SOAK", False)

    assert sweeps.spread(range(1, 60, 2), 4) == [1, 21, 39, 59]
    assert sweeps.spread("ab", 4) == ["a", "b"]
