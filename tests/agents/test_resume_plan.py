"""Who was cut off, and how each is brought back."""

import pytest

from ibstatus.agents.rules import resume_plan
from ibstatus.agents.rules.resume_plan import Facts, Heard, Left, Step

META = {"session_id": "0123456789", "client": "/bin/claude", "manager": None, "started": 100.0, "ended": None}
AT_WORK = Heard("running", "", 150.0)


def facts(meta=META, running=False, heard=AT_WORK, **more) -> Facts:
    return Facts("w", meta, running, heard, **more)


def ended(code, **more):
    return {**META, "ended": {"code": code, "at": 200.0, **more}}


@pytest.mark.parametrize(
    ("seen", "how"),
    [
        (facts(), "go on"),
        (facts(ended(None)), "go on"),
        (facts(ended(143)), "go on"),
        (facts(ended(1)), "go on"),
        (facts(heard=Heard("compacting", "", 150.0)), "go on"),
        (facts(heard=Heard("rate_limited", "", 150.0)), "go on"),
        (facts(heard=Heard("running", "background", 150.0)), "go on"),
        (facts(heard=Heard("waiting", "permission", 150.0)), "go on"),
        (facts(heard=Heard("waiting", "question", 150.0)), "go on"),
        (facts(heard=Heard("waiting", "input", 150.0)), "wait"),
        (facts(heard=Heard("waiting", "error: overloaded", 150.0)), "wait"),
        (facts(heard=Heard()), "wait"),
        (facts(heard=Heard(), begun=False), "begin"),
        (facts(heard=Heard("rate_limited", "", 150.0), parked=""), "go on"),
        (facts(read=("waiting", "interrupted")), "wait"),
        (facts(heard=Heard("compacting", "", 150.0), read=("waiting", "interrupted")), "wait"),
        (facts(ended(137), heard=Heard(), begun=False), "begin"),
    ],
)
def test_one_that_was_cut_off(seen: Facts, how: str) -> None:
    found = resume_plan.judged(seen)

    assert isinstance(found, Step)
    assert found.how == how
    assert resume_plan.is_cut_off(seen)


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (facts({"id": "w"}), "not started by ib"),
        (facts(running=None), "tmux cannot be asked"),
        (facts(running=True), "its session runs"),
        (facts(at_work=True), "another command"),
        (facts(ended(None, why="paused")), "paused"),
        (facts(heard=Heard("running", "", 150.0, "paused")), "paused"),
        (facts(ended(0)), "ended by itself"),
        (facts(standing="left by /exit"), "left by /exit"),
        (facts(heard=Heard("complete", "", 150.0)), "complete"),
        (facts(ended(9), heard=Heard("running", "", 50.0)), "exit code 9"),
        (facts(has_tree=False), "its worktree is gone"),
        (facts(has_client=False), "its client is gone"),
        (facts(heard=Heard("waiting", "input", 150.0), begun=False), "its conversation is gone"),
        (facts(heard=Heard("running", "", 150.0, "", True), begun=False), "its task was done once"),
        (facts(begun=False), "work on its task had begun"),
        (facts({**META, "prompted": True}, heard=Heard(), begun=False), "it had got its task"),
        (
            facts({**META, "ended": {"code": 137, "at": 9999.0}}, heard=Heard(), begun=False),
            "nobody knows what it has done",
        ),
        (facts(heard=Heard("rate_limited", "", 150.0), parked="14:00"), "until 14:00"),
        (facts(read=("rate_limited", "You've hit your limit"), parked="14:00"), "until 14:00"),
    ],
)
def test_one_that_is_left_alone(seen: Facts, why: str) -> None:
    found = resume_plan.judged(seen)

    assert isinstance(found, Left)
    assert why in found.why


def event(second: int, kind: str, state: str = "", reason: str = "", who: str = "w") -> dict[str, str]:
    return {"t": f"2026-01-01T00:00:{second:02}Z", "kind": kind, "who": who, "state": state, "reason": reason}


BEGAN = 1767225600.0


def test_the_last_word_of_a_turn_counts_not_the_end_of_the_session() -> None:
    events = [
        event(1, "agent.state", "waiting", "input"),
        event(2, "agent.state", "running"),
        event(3, "agent.stopped", "", ""),
        event(4, "agent.state", "waiting", "uncommitted"),
        event(5, "agent.state", "creating", "resumed"),
        event(6, "agent.state", "waiting", "trust"),
        event(7, "agent.stopped", "", "was killed"),
    ]

    assert resume_plan.heard(events, {"w": BEGAN}) == {"w": Heard("running", "", BEGAN + 2, "", True)}


def test_a_pause_counts_until_it_is_resumed() -> None:
    events = [event(1, "agent.state", "running"), event(2, "agent.stopped", "", "paused"), event(3, "agent.stopped")]
    assert resume_plan.heard(events, {"w": BEGAN})["w"].stopped == "paused"

    events += [event(4, "agent.state", "creating", "resumed")]
    assert resume_plan.heard(events, {"w": BEGAN})["w"].stopped == ""


def test_that_a_new_session_waits_ends_no_turn() -> None:
    events = [event(1, "agent.state", "running"), event(2, "agent.state", "creating", "resumed")]
    events += [event(3, "agent.state", "waiting", "input")]
    assert resume_plan.heard(events, {"w": BEGAN})["w"].state == "running"

    events += [event(4, "agent.state", "running"), event(5, "agent.state", "waiting", "input")]
    assert resume_plan.heard(events, {"w": BEGAN})["w"].state == "waiting"


def test_what_a_hook_says_after_the_end_is_void() -> None:
    """By the time of the event: one that is read later may be of before the end."""
    events = [event(1, "agent.state", "running"), event(5, "agent.stopped", "", "was killed")]
    late = event(6, "agent.state", "complete")
    assert resume_plan.heard([*events, late], {"w": BEGAN})["w"].state == "running"
    assert resume_plan.heard([events[0], late], {"w": BEGAN}, {"w": BEGAN + 5.5})["w"].state == "running"

    of_before = [*events, event(4, "agent.state", "complete")]
    assert resume_plan.heard(of_before, {"w": BEGAN}, {"w": BEGAN + 5.5})["w"].state == "complete"


def test_one_that_began_again_after_its_end_is_heard() -> None:
    events = [event(1, "agent.state", "running"), event(2, "agent.state", "waiting", "uncommitted")]
    events += [event(3, "agent.state", "complete"), event(4, "agent.state", "creating", "resumed")]
    assert resume_plan.heard(events, {"w": BEGAN})["w"].state == "running"

    events += [event(5, "agent.state", "running"), event(6, "agent.state", "complete")]
    assert resume_plan.heard(events, {"w": BEGAN})["w"].state == "complete"


def test_a_namesake_that_is_gone_and_a_stranger_say_nothing() -> None:
    assert resume_plan.heard([event(1, "agent.state", "running")], {"w": BEGAN + 30, "x": 0.0}) == {}


def step(name: str, manager: str = "") -> Step:
    return Step(name, manager, "go on", "", "")


def test_managers_first_then_the_oldest_also_in_a_circle() -> None:
    created = {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}
    steps = [step("a", "b"), step("b", "a"), step("d", "c"), step("c"), step("e")]

    assert [one.id for one in resume_plan.in_order(steps, created)] == ["e", "c", "d", "a", "b"]


def test_who_does_not_fit_is_named() -> None:
    fitting, others = resume_plan.fitted([step("a"), step("b"), step("c")], 1, 4)

    assert [one.id for one in fitting] == ["a"]
    assert [one.id for one in others] == ["b", "c"]
    assert "ib config set maxAgents 6" in others[0].hint


def test_that_its_task_was_answered_once_is_not_forgotten_in_the_next_turn() -> None:
    events = [event(1, "agent.state", "running"), event(2, "agent.state", "complete")]
    events += [event(3, "agent.state", "running"), event(4, "agent.stopped", "", "was killed")]

    assert resume_plan.heard(events, {"w": BEGAN})["w"] == Heard("running", "", BEGAN + 3, "", True)


def test_who_was_interrupted_is_said_to_be() -> None:
    assert "interrupted" in getattr(resume_plan.judged(facts(read=("waiting", "interrupted"))), "was", "")


def test_the_plan_fits_a_terminal() -> None:
    (line,) = resume_plan.rows([Step("a", "", "wait", "0123456789", "somebody had interrupted it")], [], False)

    assert line == "resume  a  waits as before, without a word; somebody had interrupted it"
    assert resume_plan.rows([step("a")._replace(session="0123456789")], [])[0].endswith("session 01234567")
