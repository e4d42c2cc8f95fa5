"""While tmux is silent nothing that was seen is forgotten, and it is said that nobody looks."""

from ibstatus.model.fleet import Agent
from ibstatus.state.rules import evidence, fleet, tmux_outage
from ibstatus.state.rules.known import Known, Sight, Told

NOW = 2_000_000_000.0
WAS = Agent("a", "waiting", "1m", "", reason="permission", since=NOW - 30, source=evidence.SCREEN, asks="Bash make")
META = {"id": "a", "tmux_session": "s", "created_epoch": NOW - 900}


def judged(told_at: float, silent_for: float, before: Agent | None = WAS) -> Agent:
    sight = Sight(None, at=NOW - silent_for, seen=NOW, note="it hangs")
    known = Known("a", META, None, Told("running", "", told_at), sight=sight)
    (found,) = fleet.fleet([known], {"a": before} if before is not None else {}, NOW)
    return found


def test_what_only_the_screen_knew_stays_and_is_marked() -> None:
    found = judged(NOW - 40, silent_for=5.0)

    assert (found.state, found.reason, found.asks, found.since) == ("waiting", "permission", "Bash make", NOW - 30)
    assert found.note == tmux_outage.UNSEEN


def test_what_is_older_says_so() -> None:
    said, silent = (
        evidence.Evidence(evidence.HOOKS, "running"),
        evidence.Evidence(evidence.SESSION, "", note="it hangs"),
    )

    assert tmux_outage.older([said, silent]) == ((said, "older than what was seen last"), (silent, "it hangs"))


def test_a_moments_trouble_is_not_mentioned() -> None:
    found = judged(NOW - 40, silent_for=0.5)

    assert (found.state, found.reason, found.note) == ("waiting", "permission", "")


def test_its_hooks_are_heard_all_the_same() -> None:
    assert judged(NOW - 1, silent_for=5.0).state == "running"
    assert judged(NOW - 40, silent_for=5.0, before=None).state == "running"
