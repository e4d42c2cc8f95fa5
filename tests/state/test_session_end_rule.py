"""While the end of its session stands, what an agent's hooks say is void, whoever has looked at tmux since."""

import pytest

from ibstatus.claude.screens.states import Shown
from ibstatus.state.rules import evidence, fleet, session_end
from ibstatus.state.rules.known import Known, Sight, Told

NOW = 1_700_000_000.0
ENDED = NOW - 60
META = {"id": "a", "created_epoch": NOW - 600, "tmux_session": "s", "started": NOW - 500}
RUNNING = Shown("running", "")
LATE = [
    Told("waiting", "input", NOW - 0.1, said="x"),
    Told("complete", "", NOW - 0.1, said="I HAVE COMPLETED THE GOAL"),
    Told("running", "", NOW - 0.1),
    Told("rate_limited", "", NOW - 0.1),
    Told("stopped", "", NOW - 0.1),
    Told("stopped", "logged out", NOW - 0.1),
    Told("complete", "", ENDED - 0.1),  # written before the end, read after it
    Told("running", "", NOW + 5),
]
SIGHTS = [
    Sight(False, seen=NOW - 3),
    Sight(False, seen=NOW),
    Sight(True, dead=True, seen=NOW - 3),
    Sight(True, gone=True, seen=NOW),
    Sight(True, shown=RUNNING, at=ENDED - 9, changed=ENDED - 1, seen=ENDED - 1),
    Sight(True, shown=RUNNING, at=ENDED - 9, changed=ENDED - 1, seen=ENDED + 0.2),
    Sight(None, at=NOW - 30, seen=NOW),
]


def known(told: Told, sight: Sight | None, **more: object) -> Known:
    ended = {"code": 3, "at": ENDED, "left": 0}
    return Known("a", {**META, "ended": ended, **more}, None if sight is None else bool(sight.there), told, "", sight)


@pytest.mark.parametrize("told", LATE, ids=lambda one: f"{one.state}{one.at - NOW:+}")
@pytest.mark.parametrize("sight", SIGHTS, ids=range(len(SIGHTS)))
def test_a_late_hook_is_void_at_once(told: Told, sight: Sight) -> None:
    one = known(told, sight)
    [seen] = fleet.fleet([one], {}, NOW)
    verdict = fleet.state_of(one, NOW)

    assert (seen.state, seen.reason, seen.said, seen.silent) == ("stopped", "ended with exit code 3", "", False)
    assert (verdict.state, verdict.reason) == (seen.state, seen.reason)
    assert seen.since is not None
    assert abs(seen.since - ENDED) < 1


@pytest.mark.parametrize(
    ("ended", "shown"),
    [
        ({"code": None, "at": ENDED, "left": 2}, ("waiting", evidence.UNCOMMITTED)),
        ({"code": 0, "at": ENDED, "left": 0}, ("stopped", "")),
        ({"code": None, "at": ENDED, "why": "paused"}, ("stopped", "paused")),
        ({"code": None, "at": ENDED}, ("stopped", "")),
    ],
)
@pytest.mark.parametrize("sight", SIGHTS[:2], ids=range(2))
def test_however_it_ended(ended: dict[str, object], shown: tuple[str, str], sight: Sight) -> None:
    [seen] = fleet.fleet([known(LATE[0], sight, ended=ended)], {}, NOW)

    assert (seen.state, seen.reason) == shown


@pytest.mark.parametrize(
    "more", [{"ended": None, "started": ENDED + 30}, {"started": ENDED + 30}, {"ended": {"code": 3}}, {"ended": 3}]
)
def test_one_that_began_again_is_believed(more: dict[str, object]) -> None:
    one = known(LATE[0], Sight(True, shown=Shown("waiting", "input", idle=True), at=NOW, changed=NOW, seen=NOW), **more)

    assert session_end.heeded(one) is one
    assert fleet.fleet([one], {}, NOW)[0].state == "waiting"


def test_a_session_that_somebody_has_begun_by_hand_is_believed() -> None:
    one = known(LATE[2], Sight(True, shown=RUNNING, at=NOW - 20, changed=NOW, seen=NOW))

    assert fleet.fleet([one], {}, NOW)[0].state == "running"


def test_how_its_own_hooks_say_that_it_ends_stays() -> None:
    one = known(Told("stopped", "left by /exit", ENDED - 0.1), SIGHTS[1], ended={"code": 0, "at": ENDED, "left": 0})

    assert fleet.fleet([one], {}, NOW)[0].reason == "left by /exit"


def test_what_ib_says_of_the_end_stays() -> None:
    one = known(Told("stopped", "brought back", NOW - 1), SIGHTS[0])

    assert fleet.fleet([one], {}, NOW)[0].reason == "brought back"
