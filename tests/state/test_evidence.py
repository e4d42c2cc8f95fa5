"""From all evidence on one agent to what is so."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibstatus.claude.screens.states import Shown
from ibstatus.state.rules import compactions, evidence, fleet, why_text
from ibstatus.state.rules.evidence import Evidence
from ibstatus.state.rules.known import Known, Sight, Told

NOW = 1_800_000_000.0
HOOK = NOW - 60  # when the hooks spoke last
PROMPT = Shown("waiting", "input", "prompt", idle=True)
BUSY = Shown("running", "", "busy")
COMPACTING = Shown("compacting", "", "compacting")
RETRY = Shown("running", "retrying in 2 s, attempt 4/10", "retry")
PERMISSION = Shown("waiting", "permission", "permission", "Do you want to run rm -rf build?")
QUESTION = Shown("waiting", "question", "question", "Which port?")
MENU = Shown("waiting", "input", "menu")
OWN = Shown("waiting", "deploy", "my-deploy")
TRUST = Shown("waiting", "trust", "trust", "Do you trust this folder?")
LIMIT = Shown("rate_limited", "", "limit", "resets 8:16am (UTC)")
DONE = Shown("complete", "", "phrase", idle=True)
NOTHING = Shown("unknown", rule="none")
RAN, DID, ASKED = Told("running", "", HOOK), Told("complete", "", HOOK), Told("waiting", "permission", HOOK)


def sight(shown: Shown | None, at: float = 5.0, seen: float = 0.1, **more: object) -> Sight:
    """`at`, `seen`: so many seconds ago."""
    values = {"there": True, "dead": False, "suspended": False, "changed": 0.0, "note": "", **more}
    return Sight(shown=shown, at=NOW - at, seen=NOW - seen, **values)  # type: ignore[arg-type]


def known(told: Told | None, seen: Sight | None = None, age: float = 600, *also: Evidence, **meta: object) -> Known:
    record = {"id": "a", "created_epoch": NOW - age, "tmux_session": "s", **meta}
    return Known("a", record, True, told, "", seen, also)


def judged(told: Told | None, seen: Sight | None = None, age: float = 600, *also: Evidence) -> tuple[str, str]:
    found = fleet.state_of(known(told, seen, age, *also), NOW)
    return found.state, found.reason


def just(state: str, reason: str = "", ago: float = 0.2) -> Told:
    return Told(state, reason, NOW - ago)


@pytest.mark.parametrize(
    ("told", "seen", "expected"),
    [
        # a dialog raises, once it can be on the screen
        (RAN, sight(PERMISSION), ("waiting", "permission")),
        (RAN, sight(PERMISSION, 0.1), ("waiting", "permission")),
        (DID, sight(QUESTION), ("waiting", "question")),
        (just("running", ago=0.2), sight(PERMISSION, 3, 0.1), ("running", "")),
        (Told("waiting", "plan", HOOK), sight(PERMISSION), ("waiting", "plan")),
        # what waits for keys, of a kind that no hook tells of
        (RAN, sight(MENU), ("waiting", "input")),
        (RAN, sight(OWN), ("waiting", "deploy")),
        (just("running", ago=1.0), sight(MENU, 3), ("running", "")),
        (DID, sight(MENU), ("complete", "")),
        # an answered dialog: the tool runs, and no hook says so
        (ASKED, sight(BUSY), ("running", "")),
        (just("waiting", "permission", 0.2), sight(BUSY, 3), ("waiting", "permission")),
        (ASKED, sight(NOTHING), ("waiting", "permission")),
        # Esc
        (RAN, sight(PROMPT), ("waiting", "input")),
        (ASKED, sight(PROMPT), ("waiting", "input")),
        (Told("compacting", "", HOOK), sight(PROMPT), ("waiting", "input")),
        (RAN, sight(PROMPT, 0.1), ("running", "")),
        (just("running", ago=0.4), sight(PROMPT, 0.4, 0), ("running", "")),
        (just("running", ago=1.0), sight(PROMPT, 30, 0), ("running", "")),
        (Told("running", "background", HOOK), sight(PROMPT), ("running", "background")),
        # a completion is the hooks' to tell
        (DID, sight(PROMPT), ("complete", "")),
        (RAN, sight(DONE), ("waiting", "input")),
        (None, sight(DONE), ("complete", "")),
        # a turn that no hook told of
        (DID, sight(BUSY), ("running", "")),
        (Told("waiting", "input", HOOK), sight(BUSY), ("running", "")),
        (just("complete", ago=1.0), sight(BUSY, 0.1), ("complete", "")),
        (just("complete", ago=5.0), sight(BUSY, 20), ("complete", "")),
        (Told("rate_limited", "", HOOK), sight(BUSY), ("running", "")),
        (Told("rate_limited", "", HOOK), sight(PROMPT), ("rate_limited", "")),
        (RAN, sight(RETRY), ("running", "retrying in 2 s, attempt 4/10")),
        (RAN, sight(COMPACTING), ("compacting", "")),
        (RAN, sight(LIMIT), ("rate_limited", "")),
        # nothing on the screen
        (RAN, sight(NOTHING), ("running", "")),
        (RAN, sight(None, note="the capture failed"), ("running", "")),
        (None, sight(NOTHING), ("unknown", "")),
        # the session
        (RAN, sight(None, there=False), ("stopped", "")),
        (RAN, sight(BUSY, dead=True), ("stopped", "")),
        (RAN, sight(None, there=None, note="tmux hangs"), ("running", "")),
        (Told("waiting", "uncommitted", HOOK), sight(None, there=False), ("waiting", "uncommitted")),
        (Told("stopped", "was killed", HOOK), sight(None, there=False), ("stopped", "was killed")),
        (RAN, sight(BUSY, suspended=True), ("waiting", "suspended")),
        (DID, sight(Shown("waiting", "suspended", "suspended")), ("waiting", "suspended")),
        (RAN, sight(BUSY, suspended=True, there=False), ("stopped", "")),
        (RAN, sight(BUSY, gone=True), ("stopped", "")),
        (DID, sight(PROMPT, gone=True), ("stopped", "")),
    ],
)  # fmt: skip
def test_the_freshest_strong_word_wins(told: Told | None, seen: Sight, expected: tuple[str, str]) -> None:
    assert judged(told, seen) == expected


@pytest.mark.parametrize(
    ("told", "seen", "age", "expected"),
    [
        (None, sight(TRUST, 3), 5, ("creating", "")),
        (None, sight(TRUST, 30), 40, ("waiting", "trust")),
        (Told("waiting", "trust", NOW - 2), sight(TRUST, 3), 5, ("waiting", "trust")),
        (None, sight(NOTHING), 5, ("creating", "")),
        (None, sight(NOTHING, gone=True), 5, ("creating", "")),
        (None, sight(PROMPT, 0.1), 5, ("creating", "")),
        (None, sight(BUSY, 0.1), 5, ("running", "")),
        (None, sight(None, there=False), 5, ("creating", "")),
        (None, sight(None, there=False), 90, ("stopped", "")),
        (Told("stopped", "paused", NOW - 100), sight(NOTHING), 5, ("creating", "")),
    ],
)  # fmt: skip
def test_a_start(told: Told | None, seen: Sight, age: float, expected: tuple[str, str]) -> None:
    assert judged(told, seen, age) == expected


def test_what_is_asked_comes_from_the_screen_whoever_decides() -> None:
    for told in (RAN, ASKED):
        assert fleet.state_of(known(told, sight(PERMISSION)), NOW).asks == PERMISSION.asks
    assert fleet.state_of(known(Told("rate_limited", "", HOOK), sight(LIMIT)), NOW).asks == LIMIT.asks


@pytest.mark.parametrize(
    "rest",
    [
        Told("complete", "", HOOK - 9, "did it"),
        Told("waiting", "input", HOOK - 9, "hm", silent=True),
        Told("waiting", "error: server_error", HOOK - 9),
        Told("rate_limited", "", HOOK - 9),
        Told("running", "background", HOOK - 9),
    ],
)
def test_a_compaction_that_no_hook_ends_leaves_it_as_it_was(rest: Told) -> None:
    told = compactions.resumed(Told("compacting", "", HOOK), rest)
    shown, within = (fleet.fleet([known(told, sight(one))], {}, NOW)[0] for one in (PROMPT, COMPACTING))

    assert (shown.state, shown.reason, shown.since, shown.said) == (rest.state, rest.reason, rest.at, rest.said)
    assert (shown.silent, shown.source) == (rest.silent, "hooks")
    assert shown.note != evidence.INTERRUPTED
    assert within.state == "compacting"
    assert judged(told, sight(NOTHING), 600, INTERRUPT) == (rest.state, rest.reason)


def test_a_compaction_in_a_turn_that_is_broken_off_is_an_interruption() -> None:
    told = compactions.resumed(Told("compacting", "", HOOK), RAN)

    assert fleet.fleet([known(told, sight(PROMPT))], {}, NOW)[0].note == evidence.INTERRUPTED


def test_esc_is_named() -> None:
    agent = fleet.fleet([known(RAN, sight(PROMPT))], {}, NOW)[0]

    assert (agent.source, agent.note, agent.since) == ("screen", "interrupted", NOW - 5)


def test_a_single_look_counts_for_as_long_as_the_screen_has_stood_still() -> None:
    assert judged(RAN, sight(PROMPT, 0.1, changed=NOW - 20)) == ("waiting", "input")


def test_a_turn_that_came_and_went_between_two_looks() -> None:
    drawn = sight(PROMPT, 30, 0, changed=NOW - 0.6)

    assert judged(just("running", ago=1.0), drawn) == ("waiting", "input")
    assert judged(just("running", ago=0.5), drawn) == ("running", "")


INTERRUPT = Evidence("transcript", "waiting", "input", NOW - 5, NOW, "interrupted")


def test_the_transcript_speaks_where_the_screen_is_silent() -> None:
    assert judged(RAN, sight(NOTHING), 600, INTERRUPT) == ("waiting", "input")
    assert judged(RAN, None, 600, INTERRUPT) == ("waiting", "input")
    assert judged(RAN, sight(BUSY), 600, INTERRUPT) == ("running", "")
    assert judged(just("running"), sight(NOTHING), 600, INTERRUPT) == ("running", "")


def test_where_nothing_has_moved_for_long_nobody_knows() -> None:
    told = Told("running", "", NOW - 700)
    for shown in (BUSY, NOTHING):
        state, reason = judged(told, sight(shown, 700, changed=NOW - 650))
        assert (state, reason) == ("unknown", "nothing has moved for 10 minutes")
    writing = Evidence("transcript", "", "", NOW, NOW, "", moved=NOW - 3)
    assert judged(told, sight(BUSY, 700, changed=NOW - 3)) == ("running", "")
    assert judged(told, sight(NOTHING, 700, changed=NOW - 650), 900, writing) == ("running", "")


def test_what_comes_from_the_future_counts_as_now() -> None:
    """A clock that was set back makes nobody deaf: what the screen shows next is as new as the hooks' word."""
    told = Told("running", "", NOW + 3600)

    assert fleet.state_of(known(told), NOW).at == NOW
    assert judged(told, sight(BUSY)) == ("running", "")


def test_a_word_without_phrase_is_silent_only_while_it_decides() -> None:
    told = Told("waiting", "input", HOOK, "I have looked around.", True)
    quiet, at_work = (fleet.fleet([known(told, sight(shown))], {}, NOW)[0] for shown in (PROMPT, BUSY))

    assert (quiet.silent, quiet.said) == (True, "I have looked around.")
    assert (at_work.state, at_work.silent) == ("running", False)


def test_every_loser_is_told_why() -> None:
    verdict = fleet.state_of(known(RAN, sight(PERMISSION), 600, INTERRUPT), NOW)

    assert {one.source for one, _ in verdict.lost} == {"session", "hooks", "transcript", "record"}
    assert all(why for _, why in verdict.lost)


TIMES = st.floats(NOW - 10_000, NOW + 10_000)
PIECES = st.builds(
    Evidence,
    st.sampled_from(["session", "process", "hooks", "transcript", "screen", "record"]),
    st.sampled_from(["", *fleet.STATES]),
    st.sampled_from(["", "input", "permission", "background", "uncommitted", "trust", "retrying"]),
    at=TIMES,
    seen=TIMES,
    idle=st.booleans(),
    moved=TIMES,
    since=st.just(0.0) | TIMES,
    rest=st.none(),
)


@settings(max_examples=60)
@given(st.lists(PIECES, max_size=6))
def test_any_evidence_gives_a_state_with_reasons(pieces: list[Evidence]) -> None:
    verdict = evidence.judge(pieces, NOW)

    assert verdict.state in fleet.STATES
    assert verdict.at <= NOW
    assert verdict.why
    assert all(why for _, why in verdict.lost)


SAID = st.sampled_from(["running", "compacting", "creating", "waiting", "complete", "rate_limited"])


@given(st.lists(PIECES, max_size=6), st.sampled_from(["session", "process"]), TIMES)
def test_no_screen_overrules_an_end(pieces: list[Evidence], source: str, at: float) -> None:
    others = [one for one in pieces if one.source not in ("session", "process")]
    verdict = evidence.judge([Evidence(source, "stopped", at=at, seen=at), *others], NOW)

    assert verdict.state == "stopped" or (verdict.source, verdict.reason) == ("hooks", "uncommitted")


@given(SAID, TIMES, st.sampled_from(["waiting", "complete", "unknown", ""]), TIMES, TIMES, TIMES)
def test_a_screen_without_a_prompt_lowers_nobody(
    said: str, told: float, shown: str, at: float, seen: float, moved: float
) -> None:
    hooks = Evidence("hooks", said, "", told, told)
    screen = Evidence("screen", shown, "input", at, seen, idle=False, moved=moved)
    verdict = evidence.judge([hooks, screen], NOW)

    assert verdict.state in (said, "unknown" if said == "running" else said)


@given(st.lists(PIECES, max_size=6), st.floats(1, 1e9))
def test_a_time_of_the_future_is_as_good_as_now(pieces: list[Evidence], ahead: float) -> None:
    late = [one._replace(at=NOW + ahead, seen=NOW + ahead, moved=NOW + ahead) for one in pieces]
    present = [one._replace(at=NOW, seen=NOW, moved=NOW) for one in pieces]

    assert evidence.judge(late, NOW)[:4] == evidence.judge(present, NOW)[:4]


def test_how_far_each_is_trusted() -> None:
    def trusted(source: str, state: str, ago: float, **more: Any) -> str:
        return why_text.of(Evidence(source, state, at=NOW - ago, seen=more.pop("seen", NOW), **more), NOW)

    assert trusted("hooks", "", 1) == ""
    assert trusted("session", "stopped", 1) == trusted("process", "waiting", 1) == "sure"
    assert trusted("hooks", "running", 1) == trusted("hooks", "complete", 9999) == "strong"
    assert trusted("hooks", "running", 9999) == "weak"
    assert trusted("screen", "waiting", 0.1, idle=True) == "weak"
    assert trusted("screen", "waiting", 0.5, idle=True) == "strong"
    assert trusted("screen", "running", 60, seen=NOW - 60) == "weak"
    assert trusted("transcript", "waiting", 1) == trusted("record", "creating", 1) == "weak"


SHOWN = st.sampled_from([PROMPT, BUSY, COMPACTING, RETRY, PERMISSION, TRUST, LIMIT, DONE, NOTHING, None])
AGO = st.sampled_from([-5.0, 0.0, 0.2, 0.4, 1.0, 2.0, 20.0, 599.0, 601.0])


@given(
    st.sampled_from([*fleet.STATES]), st.sampled_from(["", "input", "permission", "background"]), AGO, SHOWN, AGO, AGO
)
def test_the_short_way_says_what_the_long_one_says(
    state: str, reason: str, ago: float, shown: Shown | None, at: float, changed: float
) -> None:
    one = known(Told(state, reason, NOW - ago), sight(shown, at, 0.0, changed=NOW - changed))
    short = fleet.agreed(one, NOW)

    if short is not None:
        assert short == fleet.state_of(one, NOW)._replace(lost=(), note="")


def test_a_server_that_hangs_is_said_of_whom_it_hides() -> None:
    def note(**more: Any) -> str:
        return fleet.fleet([known(RAN, sight(None, there=None, **more))], {}, NOW)[0].note

    assert note(note="tmux does not answer", at=0.0) == "tmux does not answer"
    assert note(note="sessions are being made or ended", at=5.0) == "tmux does not answer"
    assert note(note="sessions are being made or ended", at=0.5) == ""


def test_a_state_that_goes_on_is_never_of_the_future() -> None:
    before = fleet.fleet([known(RAN, sight(BUSY))], {}, NOW)[0]
    after = fleet.fleet([known(RAN, sight(BUSY))], {"a": before}, HOOK - 600)[0]

    assert (after.state, after.since) == ("running", HOOK - 600)


@pytest.mark.parametrize(
    ("told", "seen", "expected"),
    [
        # busy: long after a hook even what was there before it counts
        (just("complete", ago=12), sight(BUSY, 20), ("running", "")),
        (just("complete", ago=9.5), sight(BUSY, 20), ("complete", "")),
        (just("running", "background", 60), sight(BUSY), ("running", "")),
        (just("running", "background", 1.0), sight(BUSY, 0.1), ("running", "background")),
        (just("running", ago=0.2), sight(COMPACTING, 0, 0), ("running", "")),
        (just("running", ago=0.5), sight(COMPACTING, 0.1, 0), ("compacting", "")),
        (
            just("running", ago=700),
            sight(RETRY, 700, changed=NOW - 700),
            ("unknown", "nothing has moved for 10 minutes"),
        ),
        # idle: a screen that stands since before the hook
        (just("running", ago=2.9), sight(PROMPT, 30, 0), ("running", "")),
        (just("running", ago=3.1), sight(PROMPT, 30, 0), ("waiting", "input")),
        (just("stopped", ago=1.4), sight(PROMPT, 1.0, 0), ("stopped", "")),
        (just("stopped", ago=1.6), sight(PROMPT, 1.0, 0), ("waiting", "input")),
        # what was not looked at lately stands still for nobody
        (just("running", ago=700), sight(NOTHING, 700, 650, changed=NOW - 700), ("running", "")),
    ],
)
def test_where_each_rule_begins(told: Told, seen: Sight, expected: tuple[str, str]) -> None:
    assert judged(told, seen) == expected


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (Evidence(evidence.SCREEN, "waiting", "input", idle=True), "any turn leaves an idle prompt"),
        (Evidence(evidence.SCREEN, "running"), "not newer than the last hook, or not for long enough"),
        (Evidence(evidence.TRANSCRIPT, "waiting"), "not newer than the last hook"),
        (Evidence(evidence.RECORD, "creating"), "says nothing of how it is now"),
        (Evidence(evidence.SCREEN, "complete", idle=True), "agrees"),
    ],
)
def test_why_the_hooks_stand_against_it(seen: Evidence, why: str) -> None:
    verdict = evidence.Verdict("complete", "", 0.0, evidence.HOOKS, why=evidence.TOLD)

    assert evidence.why_lost(seen, verdict) == why
