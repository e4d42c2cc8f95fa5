"""Transcripts are read where hooks and screen leave it in doubt: few in a look, and not again and again."""

from pathlib import Path

import pytest

from ibstatus.claude.screens.states import Shown
from ibstatus.project.agent_meta import Record
from ibstatus.state import transcript_check
from ibstatus.state.rules.known import Sight, Told

RAN = Told("running", "", 10.0)
BLANK = Sight(True, shown=Shown("unknown"))


def record(repo, name: str) -> Record:
    return Record(name, {"id": name})


@pytest.mark.parametrize(
    ("told", "sight", "asked"),
    [
        (RAN, BLANK, True),
        (Told("waiting", "permission", 10.0), BLANK, True),
        (RAN, Sight(None, note="tmux does not answer"), True),
        (RAN, Sight(True, shown=Shown("running")), False),
        (Told("complete", "", 10.0), BLANK, False),
        (RAN, Sight(False), False),
        (RAN, Sight(True, dead=True), False),
        (RAN, None, False),
        (None, BLANK, False),
    ],
)
def test_only_in_doubt(repo, told: Told | None, sight: Sight | None, asked: bool) -> None:
    reading = transcript_check.Reading(repo).begin(100.0)

    assert bool(reading.where_in_doubt(record(repo, "a"), told, sight)) == asked


def test_a_few_in_a_look_and_each_has_its_turn(repo) -> None:
    names = [f"a{number}" for number in range(3 * transcript_check.MOST)]
    reading = transcript_check.Reading(repo)

    def read(now: float) -> set[str]:
        reading.begin(now)
        return {name for name in names if reading.where_in_doubt(record(repo, name), RAN, BLANK)}

    assert len(read(100.0)) == transcript_check.MOST
    assert len(read(100.5)) == 2 * transcript_check.MOST
    assert read(101.0) == set(names)
    assert len(read(300.0)) == transcript_check.MOST


def test_a_transcript_that_no_one_can_read_is_said(repo, tmp_path: Path) -> None:
    [found] = transcript_check.Reading(repo).begin(1.0).where_in_doubt(Record("a", {"id": "a", "kind": 7}), RAN, BLANK)

    assert (found.state, found.source) == ("", "transcript")
    assert found.note
