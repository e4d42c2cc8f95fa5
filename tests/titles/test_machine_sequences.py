"""Any sequence of payloads, whole and mangled: the machine and a reading of the whole history agree."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from ibstatus.titles import glyphs, machine
from tests.hooks.payloads import ALL, recorded
from tests.titles.title_history import Event, History
from tests.titles.transitions import NOW, agents

ANY: list[Any] = [None, 7, True, "", "?", [], {}, ["x"], [{}], [{"status": "running"}], [{"tool_name": 7}, None]]
WHO = st.sampled_from(["", "", "", "a1", "a2"])
TURNS = st.sampled_from(["t1", "t2", ""])
TASKS = st.sampled_from([None, [], ["a1"], ["a2"], ["a1", "a2"], ["b1"], ["a1", "b1"]])
AWAY = st.sampled_from([0, 1, 5, 5, 5, 900, 1800, 1801, -5, -1800, -1801])
HEARD = ("Stop", "SubagentStop", "PostTool", "UserPrompt", "PreTool", "Permission", "Notification", "SessionStart")
FILES = [(path.stem, path.parent.name) for path in ALL]
KEYS = ["agent_id", "prompt_id", "tool_name", "tool_calls", "background_tasks", "source", "notification_type"]
LISTENER = {"id": "l1", "status": "running", "command": "cd x && ib listen"}


class Sequences(RuleBasedStateMachine):
    mode = machine.STOP_ONLY

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.last = machine.Known()
        self.history = History(self.mode == machine.REAL_TIME)
        self.told: list[dict[str, Any]] = []

    @rule(
        file=st.sampled_from([one for one in FILES if one[0].startswith(HEARD)]),
        who=WHO,
        turn=TURNS,
        tasks=TASKS,
        away=AWAY,
        focused=st.booleans(),
    )
    def tell(
        self, file: tuple[str, str], who: str, turn: str, tasks: list[str] | None, away: int, focused: bool
    ) -> None:
        more: dict[str, Any] = {"prompt_id": turn} if turn else {}
        if who or file[0].startswith("SubagentStop"):
            more["agent_id"] = who or "a1"
        if tasks is not None:
            more["background_tasks"] = [*agents(*tasks), LISTENER]
        self.deliver(recorded(*file, **more), away, focused)

    @rule(tool=st.sampled_from(["Read", "Edit", "Bash", "SendMessage"]), turn=TURNS, focused=st.booleans())
    def work(self, tool: str, turn: str, focused: bool) -> None:
        self.deliver(recorded("PreToolUse.Bash", tool_name=tool, prompt_id=turn), 1, focused)
        self.deliver(recorded("PostToolBatch", tool_calls=[{"tool_name": tool}], prompt_id=turn), 1, focused)

    @rule(tasks=TASKS, turn=TURNS, away=AWAY, name=st.sampled_from(["Stop", "Stop", "StopFailure.rate_limit"]))
    def stop(self, tasks: list[str] | None, turn: str, away: int, name: str) -> None:
        self.deliver(recorded(name, prompt_id=turn, background_tasks=agents(*(tasks or []))), away, False)

    @rule(who=st.sampled_from(["a1", "a2"]), away=AWAY, tasks=TASKS)
    def subagent_stop(self, who: str, away: int, tasks: list[str] | None) -> None:
        listed = None if tasks is None else agents(*tasks)
        self.deliver(recorded("SubagentStop", agent_id=who, background_tasks=listed), away, False)

    @rule(name=st.sampled_from(["Elicitation", "ElicitationResult"]), who=WHO, away=AWAY)
    def talk(self, name: str, who: str, away: int) -> None:
        self.deliver({"hook_event_name": name, "agent_id": who}, away, False)

    @rule(file=st.sampled_from(FILES), key=st.sampled_from(KEYS), value=st.sampled_from(ANY), away=AWAY)
    def mangle(self, file: tuple[str, str], key: str, value: Any, away: int) -> None:
        self.deliver(recorded(*file, **{key: value}), away, False)

    @rule(file=st.sampled_from(FILES), key=st.sampled_from(KEYS))
    def lose_a_field(self, file: tuple[str, str], key: str) -> None:
        self.deliver({name: value for name, value in recorded(*file).items() if name != key}, 1, False)

    @rule(at=st.integers(1, 4), away=AWAY, focused=st.booleans())
    def repeat(self, at: int, away: int, focused: bool) -> None:
        if self.told:
            self.deliver(self.told[-min(at, len(self.told))], away, focused)

    def deliver(self, body: dict[str, Any], away: int, focused: bool) -> None:
        self.now += away
        self.told.append(body)
        before = machine.packed(self.last)
        new = machine.after(body["hook_event_name"], body, self.last, self.mode, focused, self.now)
        assert machine.packed(self.last) == before  # none is ever changed
        assert new is self.last or machine.packed(new) != before
        self.last = new
        self.history.events.append(Event(body, self.now, focused))
        self.compare()

    def compare(self) -> None:
        n = len(self.history.events)
        state, tool = self.history.shown(n)
        _, since, done = self.history.once("rest", n)
        assert (self.last.state, self.last.completed) == (state, done)
        assert machine.values(self.last, "emoji", "p")[-2:] == [glyphs.glyph(state, tool, "emoji"), "p"]
        if state in (machine.COMPLETED, machine.BASE):
            assert self.last.since == since
        for away in (1799.0, 1801.0, -1801.0):
            later = machine.decayed(self.last, self.now + away).state
            covered = state in (machine.ALERT, *machine.ACTIVE)
            assert later == (state if covered else self.history.aged(n, self.now + away)[0])


class LiveSequences(Sequences):
    mode = machine.REAL_TIME


TestStopOnly = Sequences.TestCase
TestStopOnly.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestRealTime = LiveSequences.TestCase
TestRealTime.settings = settings(max_examples=250, stateful_step_count=40, deadline=None)
