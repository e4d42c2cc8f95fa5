"""Every order in which the hooks of a session may come in: what the last event said is so."""

import itertools
import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ibstatus.claude import hook_events
from ibstatus.claude.hook_events import Standing
from tests.conftest import PROJECT

NOW = 1_800_000_000.0
PAYLOADS = {path.stem: json.loads(path.read_text()) for path in (PROJECT / "fixtures/hook-payloads").glob("*/*.json")}
SAYING = {name: body for name, body in PAYLOADS.items() if hook_events.after(body["hook_event_name"], body, Standing())}
COMPACTIONS = {name for name in PAYLOADS if name.startswith(("PreCompact", "PostCompact"))}
NOTES = {name for name in PAYLOADS if name.startswith("Notification")}
# What says the same whatever came before it.
DECIDING = sorted(set(SAYING) - COMPACTIONS - NOTES)
OTHERS = sorted(set(PAYLOADS) - set(DECIDING) - COMPACTIONS - NOTES - {"SessionStart.startup", "SessionStart.resume"})


class Session:
    """The file of one session, as `store/standing` keeps it."""

    def __init__(self) -> None:
        self.last = Standing()

    def take(self, body: dict[str, Any], mono: float) -> None:
        name = body["hook_event_name"]
        if hook_events.is_late(mono, NOW, self.last):
            self.last = kept(hook_events.late(name, body, self.last) or self.last, self.last.mono)
        else:
            self.last = kept(hook_events.after(name, body, self.last) or self.last, mono)


def kept(new: Standing, mono: float) -> Standing:
    new.mono, new.at = mono, NOW
    return new


class Sequences(RuleBasedStateMachine):
    """The model: the deciding event that began last has the last word, however the hooks came in."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = itertools.count(100.0, 0.5)
        self.session = Session()
        self.waiting: list[tuple[float, dict[str, Any]]] = []
        self.told: list[tuple[float, dict[str, Any]]] = []

    @initialize(name=st.sampled_from(DECIDING))
    def begin(self, name: str) -> None:
        self.happen(name)
        self.arrive(0)

    @rule(name=st.sampled_from(DECIDING + OTHERS))
    def happen(self, name: str) -> None:
        """Its hook is on its way; it may come late, or never."""
        self.waiting.append((next(self.clock), PAYLOADS[name]))

    @rule(at=st.integers(0, 4))
    def arrive(self, at: int) -> None:
        if self.waiting:
            self.deliver(self.waiting.pop(at % len(self.waiting)))

    @rule(at=st.integers(0, 4))
    def arrive_again(self, at: int) -> None:
        if self.told:
            self.deliver(self.told[-1 - at % len(self.told)])

    @rule()
    def drop(self) -> None:
        if self.waiting:
            self.waiting.pop()

    def deliver(self, event: tuple[float, dict[str, Any]]) -> None:
        self.told.append(event)
        self.session.take(event[1], event[0])

    @invariant()
    def the_last_event_is_right(self) -> None:
        last = max((one for one in self.told), key=lambda one: one[0], default=None)
        word = last and hook_events.said(last[1]["hook_event_name"], last[1], Standing())
        if word:
            assert (self.session.last.state, self.session.last.reason) == (word.state, word.reason)


TestSequences = Sequences.TestCase
TestSequences.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def body(name: str, **more: Any) -> dict[str, Any]:
    return {"hook_event_name": name, **more}


def state_after(*events: tuple[float, dict[str, Any]]) -> tuple[str, str]:
    session = Session()
    for mono, event in events:
        session.take(event, mono)
    return session.last.state, session.last.reason


PROMPT, PRE, POST = body("UserPromptSubmit"), body("PreCompact"), body("PostCompact")
DONE = body("Stop", last_assistant_message="I HAVE COMPLETED THE GOAL")
IDLE = body("Notification", notification_type="idle_prompt")


def test_a_slow_hook_does_not_undo_the_next_event() -> None:
    asked = body("PermissionRequest", tool_name="Bash")

    assert state_after((1, PROMPT), (3, DONE), (2, asked)) == ("complete", "")
    assert state_after((1, DONE), (3, PROMPT), (2, IDLE)) == ("running", "")


def test_compactions_out_of_order() -> None:
    assert state_after((1, PROMPT), (3, POST), (2, PRE)) == ("running", "")
    assert state_after((1, PROMPT), (3, PRE), (2, DONE), (4, POST)) == ("complete", "")
    assert state_after((1, DONE), (2, PRE), (2, PRE), (3, POST), (3, POST)) == ("complete", "")


def test_a_machine_that_was_booted_anew_is_believed() -> None:
    assert state_after((5000, PROMPT), (20, DONE)) == ("complete", "")
