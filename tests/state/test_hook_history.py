"""What agents' hooks said last, read on from where we were."""

import json
import os
from pathlib import Path

from ibstatus.project import events, home, logs, paths
from ibstatus.state import hook_history
from ibstatus.state.rules.known import Told

NOW = 1_800_000_000.0


def say(place: paths.Place, who: str, state: str, reason: str = "", at: float = NOW, **more: object) -> None:
    logs.note(place, who, at, {"kind": "agent.state", "who": who, "state": state, "reason": reason, **more})


def test_the_last_word_of_everybody(repo: paths.Place) -> None:
    home.enter(repo)
    known = hook_history.States(repo)
    say(repo, "a", "running")
    say(repo, "b", "running")
    assert known.catch_up()["a"].state == "running"

    say(repo, "a", "waiting", "input", NOW + 5, said="What now?", silent=True)

    assert known.catch_up() == {
        "a": Told("waiting", "input", NOW + 5, "What now?", True),
        "b": Told("running", "", NOW),
    }


def test_words_of_odd_types_say_nothing(repo: paths.Place) -> None:
    home.enter(repo)
    say(repo, "a", "waiting", "input", said=["x"], silent="yes")
    say(repo, "b", "waiting", "input", said="y" * 9000)

    found = hook_history.States(repo).catch_up()

    assert (found["a"].said, found["a"].silent) == ("", False)
    assert len(found["b"].said) == 300


def test_a_spool_of_very_many_events_is_taken_in_once(repo: paths.Place) -> None:
    home.enter(repo)
    os.makedirs(repo.spool, exist_ok=True)
    line = {"t": "2027-01-15T08:00:00.000Z", "kind": "agent.state", "who": "a", "state": "running", "reason": ""}
    last = {**line, "t": "2027-01-15T08:00:01.000Z", "state": "complete"}
    text = (json.dumps(line) + "\n") * 100_000 + json.dumps(last) + "\n"
    Path(repo.spool, "a.jsonl").write_text(text)
    known = hook_history.States(repo)

    assert known.catch_up()["a"].state == "complete"
    say(repo, "a", "running", at=NOW + 100)
    assert known.catch_up()["a"].state == "running"


def test_a_broken_history_keeps_what_was_said(repo: paths.Place) -> None:
    home.enter(repo)
    known = hook_history.States(repo)
    say(repo, "a", "running")
    known.catch_up()
    with open(repo.events, "ab") as file:
        file.write(b'\xff\xfe"agent.state"\n{"kind":"agent.state"\n[]\n')

    assert known.catch_up()["a"].state == "running"


def test_a_rotated_history_is_read_to_its_end(repo: paths.Place) -> None:
    home.enter(repo)
    known = hook_history.States(repo)
    say(repo, "a", "running")
    known.catch_up()
    say(repo, "a", "complete", at=NOW + 1)
    events.fold(repo)
    os.rename(repo.events, repo.events + ".1")
    say(repo, "b", "running")

    assert {name: told.state for name, told in known.catch_up().items()} == {"a": "complete", "b": "running"}


def test_a_word_of_the_future_is_of_the_moment_it_was_read(repo: paths.Place) -> None:
    """The clock was set back: what is seen from now on is newer all the same."""
    home.enter(repo)
    known = hook_history.States(repo)
    say(repo, "a", "running", at=NOW + 3600)
    say(repo, "b", "running", at=NOW + 1)

    assert known.catch_up(NOW)["a"].at == NOW
    assert known.catch_up(NOW + 60) == {"a": Told("running", "", NOW), "b": Told("running", "", NOW + 1)}
    assert known.catch_up(NOW - 600)["b"].at == NOW - 600


def test_a_history_that_was_rotated_away_forgets_no_resting_agent(repo: paths.Place) -> None:
    home.enter(repo)
    os.makedirs(repo.agent_dir("a"))
    Path(repo.agent_dir("a"), "standing").write_text(json.dumps({"state": "complete", "reason": "", "at": NOW}) + "\n")
    os.makedirs(repo.agent_dir("b"))
    Path(repo.agent_dir("b"), "standing").write_text('{"state":"nonsense","reason":"","at":1}\n')

    assert hook_history.States(repo).catch_up(NOW + 5, ["a", "b", "c"]) == {"a": Told("complete", "", NOW)}
