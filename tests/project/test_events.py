"""The history: folded once, whatever is killed in between; numbered without gaps; rotated."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.project import events, home, logs, paths
from tests import forked
from tests.conftest import PROJECT, Done
from tests.faults import Faults
from tests.sweeps import Sweep

NOW = 1_770_000_000.0


@pytest.fixture
def noted(repo: paths.Place) -> list[str]:
    """Twelve events from three writers, in the order of their time."""
    home.enter(repo)
    ids = [f"n-{number}" for number in range(12)]
    for number, item in enumerate(ids):
        logs.note(
            repo, ("cli", "a", "s1")[number % 3], NOW + number, {"kind": "message.queued", "who": "a", "id": item}
        )
    return ids


def told(place: paths.Place) -> list[object]:
    return [entry["id"] for entry in events.read(place)]


def test_a_fold_keeps_every_event_in_order_and_numbers_it(repo: paths.Place, noted: list[str]) -> None:
    events.fold(repo)
    events.fold(repo)

    assert told(repo) == noted
    assert [entry["seq"] for entry in events.read(repo)] == list(range(1, 13))
    assert [entry["id"] for entry in events.read(repo, since=10)] == noted[10:]


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_a_fold_that_fails_anywhere_is_completed_by_the_next(
    repo: paths.Place, faults: Faults, noted: list[str], error: int
) -> None:
    at = 1
    while True:
        logs.note(repo, "cli", NOW + 100 + at, {"kind": "message.rung", "who": "a", "id": f"late-{at}"})
        faults.arm(at, error)
        try:
            events.fold(repo)
        except OSError:
            pass
        reached = faults.seen >= at
        faults.disarm()
        events.fold(repo)
        assert told(repo) == noted + [f"late-{number}" for number in range(1, at + 1)]
        assert [entry["seq"] for entry in events.read(repo)] == list(range(1, 12 + at + 1))
        if not reached:
            break
        at += 1
    assert at > 10


@pytest.mark.sweep
def test_a_fold_that_is_killed_anywhere_is_completed_by_the_next(repo: paths.Place, noted: list[str]) -> None:
    events.fold(repo)
    sweep, late = Sweep(every=8), []
    for at in sweep:
        late.append(f"late-{at}")
        logs.note(repo, "cli", NOW + 100 + at, {"kind": "message.rung", "who": "a", "id": f"late-{at}"})
        ended = forked.run(["events"], repo.root, dict(os.environ), None, forked.KILL, at)[0]
        events.fold(repo)
        assert told(repo) == noted + late
        sweep.tell(ended != 77)
    assert sweep.last > 9


def child_environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(PROJECT)}


def test_a_torn_or_foreign_line_is_dropped(repo: paths.Place, noted: list[str]) -> None:
    with open(f"{repo.spool}/cli.jsonl", "a") as file:
        file.write('garbage\n[1]\n{"t":"2026')
    events.fold(repo)

    assert told(repo) == noted


def test_the_history_is_rotated_and_read_across(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    home.enter(repo)
    monkeypatch.setattr(events, "ROTATE_ABOVE", 500)
    for number in range(60):
        logs.note(repo, "cli", NOW + number, {"kind": "message.queued", "who": "a", "id": f"n-{number}"})
        events.fold(repo)

    seqs = [entry["seq"] for entry in events.read(repo)]
    assert seqs[-1] == 60
    assert seqs == list(range(seqs[0], 61))
    assert sorted(path.name for path in Path(repo.home).glob("events.jsonl.*"))[-1] == "events.jsonl.4"


def test_a_spool_that_grows_is_folded_by_its_writer(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    home.enter(repo)
    monkeypatch.setattr(logs, "FOLD_ABOVE", 3000)
    monkeypatch.setattr(logs, "FOLD_STEP", 500)
    for number in range(60):
        logs.note(repo, "cli", NOW + number, {"kind": "message.queued", "who": "a", "id": f"n-{number}"})

    assert Path(repo.spool, "cli.jsonl").stat().st_size < 4000
    events.fold(repo)
    assert told(repo) == [f"n-{number}" for number in range(60)]


def test_a_note_that_cannot_be_kept_stops_nothing(repo: paths.Place, ib: Callable[..., Done]) -> None:
    ib("notify", "one")
    Path(repo.spool, "cli.jsonl").unlink()
    Path(repo.spool, "cli.jsonl").mkdir()

    done = ib("notify", "two")

    assert (done.code, done.err) == (0, "")
    assert [json.loads(line)["msg"] for line in Path(repo.queue).read_text().splitlines()] == ["one", "two"]


def test_what_one_writer_noted_keeps_its_order_when_the_clock_was_set_back(repo: paths.Place) -> None:
    home.enter(repo)
    for n, at in enumerate((1_800_000_000.0, 1_799_999_000.0, 1_799_999_001.0)):
        logs.note(repo, "a", at, {"kind": "agent.state", "who": "a", "state": "running", "n": n})
    events.fold(repo)

    assert [entry["n"] for entry in events.read(repo)] == [0, 1, 2]
