"""From what is known of agents to who there is and in which state."""

import msgspec
import pytest

from ibstatus.claude.screens.states import Shown
from ibstatus.model.fleet import Agent
from ibstatus.state.rules import compactions, evidence, fleet
from ibstatus.state.rules.known import Known, Sight, Told

NOW = 1_700_000_000.0


def known(name: str, manager: str | None = None, **more: object) -> Known:
    values = {"session": True, "told": Told("running", "", NOW - 50), **more}
    created = values.pop("created", NOW - 600)
    meta = {"id": name, "manager": manager, "prompt": f"task of {name}", "created_epoch": created, "tmux_session": "s"}
    return Known(name, meta, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("session", "told", "created", "expected"),
    [
        (True, Told("waiting", "question", NOW), NOW - 600, ("waiting", "question")),
        (True, None, NOW - 5, ("creating", "")),
        (True, None, NOW - 600, ("unknown", "")),
        (False, None, NOW - 5, ("creating", "")),
        (False, Told("running", "", NOW), NOW - 600, ("stopped", "")),
        (False, Told("running", "", NOW), NOW - 5, ("stopped", "")),
        (False, None, None, ("stopped", "")),
        (None, Told("complete", "", NOW), NOW - 600, ("complete", "")),
        (None, None, NOW - 600, ("unknown", "")),
        (True, None, NOW + 600, ("unknown", "")),
    ],
)
def test_the_state(session: bool | None, told: Told | None, created: float | None, expected: tuple[str, str]) -> None:
    found = fleet.state_of(known("a", session=session, told=told, created=created), NOW)

    assert (found.state, found.reason) == expected


def test_children_are_the_direct_ones_and_a_gone_manager_is_none() -> None:
    agents = fleet.fleet(
        [
            known("lead"),
            known("w1", "lead", told=Told("complete", "", NOW)),
            known("w2", "lead"),
            known("deep", "w1"),
            known("orphan", "gone"),
        ],
        {},
        NOW,
    )

    by_id = {agent.id: agent for agent in agents}
    assert (by_id["lead"].children, by_id["lead"].children_complete) == (2, 1)
    assert by_id["w1"].children == 1
    assert by_id["orphan"].manager is None


def test_a_state_that_stays_keeps_its_beginning() -> None:
    first = fleet.fleet([known("a", told=None, session=False)], {}, NOW)
    second = fleet.fleet([known("a", told=None, session=False)], {agent.id: agent for agent in first}, NOW + 500)

    assert second[0].since == first[0].since == NOW


ESCAPED = Agent("a", "waiting", "1m", "", reason="input", since=NOW - 30, source=evidence.SCREEN, note="interrupted")


@pytest.mark.parametrize(
    ("before", "told_at", "idle", "state"),
    [
        (ESCAPED, NOW - 50, True, "waiting"),
        (ESCAPED, NOW - 20, True, "running"),  # its hooks have spoken since
        (ESCAPED, NOW - 50, False, "running"),
        (None, NOW - 50, True, "running"),
        (msgspec.structs.replace(ESCAPED, reason="permission"), NOW - 50, True, "running"),
        (msgspec.structs.replace(ESCAPED, source=evidence.HOOKS), NOW - 50, True, "running"),
    ],
)
def test_a_new_supervisor_believes_what_the_last_one_has_seen_for_long_enough(
    before: Agent | None, told_at: float, idle: bool, state: str
) -> None:
    """It sees the screen for the first time, drawn in this very second."""
    shown = Shown("waiting" if idle else "running", "input" if idle else "", idle=idle)
    sight = Sight(True, shown=shown, at=NOW, seen=NOW, changed=NOW)
    one = known("a", told=Told("running", "", told_at), sight=sight)

    (found,) = fleet.fleet([one], {} if before is None else {"a": before}, NOW)

    assert found.state == state
    if state == "waiting":
        assert (found.reason, found.since, found.note) == ("input", NOW - 30, "interrupted")


def test_agents_stand_by_age() -> None:
    agents = fleet.fleet(
        [known("b", created=NOW - 10), known("a", created=NOW - 20), known("c", created=None)], {}, NOW
    )

    assert [agent.id for agent in agents] == ["c", "a", "b"]


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"created_epoch": "soon", "prompt": 3, "manager": ["x"], "model": None},
        {"created_epoch": True},
        {"created_epoch": 1e300},
        {"created_epoch": -5, "created": "yesterday"},
    ],
)
def test_a_meta_of_odd_types_is_no_trouble(meta: dict[str, object]) -> None:
    agent = fleet.fleet([Known("a", meta, True, None)], {}, NOW)[0]

    assert (agent.age, agent.prompt, agent.manager) == ("?", "", None)


def test_a_time_of_older_tools_is_read() -> None:
    agent = fleet.fleet([Known("a", {"created": "2023-11-14T22:03:20+00:00"}, True, None)], {}, NOW)[0]

    assert agent.age == "10m"


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"kind": "agent.state", "who": "a", "state": "waiting", "reason": "plan", "t": "2023-11-14T22:13:20.500Z"},
         ("a", Told("waiting", "plan", NOW + 0.5))),
        ({"kind": "agent.stopped", "who": "a", "t": "2023-11-14T22:13:20Z"}, ("a", Told("stopped", "", NOW))),
        ({"kind": "agent.state", "who": "a", "state": "dancing"}, None),
        ({"kind": "agent.tool", "who": "a", "state": "running"}, None),
        ({"kind": "agent.state", "who": 3, "state": "running"}, None),
        ({"kind": "agent.state", "who": "a", "state": ["running"]}, None),
    ],
)  # fmt: skip
def test_what_an_event_tells(event: dict[str, object], expected: object) -> None:
    assert fleet.told(event) == expected


def test_the_tree_shows_everybody_once_even_in_a_circle() -> None:
    agents = fleet.fleet([known("a", "b"), known("b", "a"), known("c"), known("d", "c"), known("e", "c")], {}, NOW)

    lines = [branch + agent.id for branch, agent in fleet.lined_up(agents)]

    assert lines == ["c", "├── d", "└── e", "a", "└── b"]


def test_an_agent_made_by_hand_is_not_called_stopped() -> None:
    """It never had a session that could have ended."""
    found = fleet.state_of(Known("a", {"id": "a"}, False, None), NOW)

    assert found.state == "unknown"


def test_what_its_hooks_say_again_has_begun_again() -> None:
    before = Agent("w", "rate_limited", "1m", "task", since=NOW)
    again = evidence.Verdict("rate_limited", "", NOW + 9, evidence.HOOKS)
    assert fleet.since(again, before) == NOW + 9
    assert fleet.since(again._replace(at=NOW + 0.5), before) == NOW
    assert fleet.since(again._replace(source=evidence.SCREEN), before) == NOW


@pytest.mark.parametrize(
    ("seen", "state"), [(NOW - 3, "running"), (NOW - 1.5, "running"), (NOW - 0.5, "stopped")], ids=str
)
def test_a_list_from_before_it_began_or_spoke_proves_no_end(seen: float, state: str) -> None:
    one = known("a", told=Told("running", "", NOW - 1), sight=Sight(False, seen=seen))

    assert rule_of(one._replace(meta={**one.meta, "started": NOW - 2})) == state


def rule_of(one: Known) -> str:
    return fleet.fleet([one], {}, NOW)[0].state


@pytest.mark.parametrize("said", ["hm", ""])
def test_a_compaction_ends_no_silence(said: str) -> None:
    before = Told("waiting", "input", NOW, said, silent=True)
    within = compactions.resumed(Told("compacting", "", NOW + 1), before)
    after = compactions.resumed(Told("waiting", "input", NOW + 2), within)
    assert (after.silent, after.said, after.at, after.since) == (True, said, NOW + 2, NOW)
    assert not compactions.resumed(Told("running", "", NOW + 2), within).silent
    assert not compactions.resumed(Told("stopped", "", NOW + 2), within).silent


def test_several_compactions_leave_the_word_of_before() -> None:
    told = done = Told("complete", "", NOW, "did it")
    for seconds in (1, 3):
        told = compactions.resumed(Told("compacting", "", NOW + seconds), told)
        told = compactions.resumed(Told("complete", "", NOW + seconds + 1), told)
    assert told == done._replace(at=NOW + 4, since=NOW)


def test_what_ends_with_words_of_its_own_is_another_end() -> None:
    within = compactions.resumed(Told("compacting", "", NOW + 1), Told("complete", "", NOW, "did it"))
    new = Told("complete", "", NOW + 2, "did it")
    assert compactions.resumed(new, within) == new
    at_work = compactions.resumed(Told("compacting", "", NOW + 1), Told("running", "", NOW))
    assert at_work.rest is None
