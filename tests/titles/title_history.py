"""What a window ought to show, read off the whole history of its session: a dialog lies over a turn, a turn over rest.

Written to be compared with rules/titles.py, which folds event by event; nothing is shared but the words.
"""

from functools import cached_property
from typing import Any

LOOKING = """Read Grep Glob LS NotebookRead WebFetch WebSearch ToolSearch TodoRead TodoWrite TaskCreate TaskUpdate
TaskGet TaskList TaskOutput BashOutput ListAgents ListMcpResourcesTool ReadMcpResourceTool AskUserQuestion
EnterPlanMode ExitPlanMode ReportFindings"""


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


class Event:
    """A payload, as far as it can be understood."""

    def __init__(self, body: dict[str, Any], at: float, focused: bool) -> None:
        self.body, self.at, self.focused = body, at, focused
        self.name, self.who, self.turn = (text(body.get(key)) for key in ("hook_event_name", "agent_id", "prompt_id"))
        self.tool, self.note = text(body.get("tool_name")), text(body.get("notification_type"))

    @cached_property
    def tasks(self) -> list[str] | None:
        tasks = self.body.get("background_tasks")
        if not isinstance(tasks, list):
            return None
        running = [task for task in tasks if isinstance(task, dict) and task.get("status") == "running"]
        return [text(task.get("id")) for task in running if "ib listen" not in text(task.get("command"))]

    @cached_property
    def used(self) -> list[str]:
        """The session's own tools that have ended."""
        calls = self.body.get("tool_calls")
        tools = [
            self.tool,
            *[text(c.get("tool_name")) for c in (calls if isinstance(calls, list) else []) if type(c) is dict],
        ]
        return tools if self.after_tool and not self.who else []

    @cached_property
    def worked(self) -> bool:
        return any(tool not in LOOKING.split() for tool in self.used if tool)

    @property
    def sends_on(self) -> bool:
        """Who had ended may run again."""
        return "SendMessage" in self.used

    @property
    def after_tool(self) -> bool:
        return self.name in ("PostToolUse", "PostToolUseFailure", "PostToolBatch")

    @property
    def begins(self) -> bool:
        return self.name == "SessionStart" and not self.who and self.body.get("source") != "compact"

    @property
    def prompts(self) -> bool:
        return self.name == "UserPromptSubmit" and not self.who

    @property
    def uses(self) -> bool:
        return self.name == "PreToolUse" and not self.who and self.tool != "AskUserQuestion"

    @property
    def asks(self) -> bool:
        """Whatever is shown before it."""
        return self.name in ("PermissionRequest", "Elicitation")

    def answers(self, question: "Event") -> bool:
        asked = question.tool if question.name != "Notification" else ""
        if self.who != question.who:
            return False
        return (
            self.name == "PostToolBatch"
            or (self.name == "SubagentStop" and self.who != "")
            or (self.name == "ElicitationResult" and asked == "")
            or (self.after_tool and asked != "" and self.tool == asked)
        )


class History:
    """`n` everywhere: after the first n events. What was once so does not change, so each answer is kept."""

    def __init__(self, live: bool) -> None:
        self.live, self.events = live, list[Event]()
        self.kept: dict[tuple[str, int], Any] = {}

    def once(self, what: str, n: int) -> Any:
        if (what, n) not in self.kept:
            self.kept[what, n] = getattr(self, what)(n)
        return self.kept[what, n]

    def shown(self, n: int) -> tuple[str, str]:
        """State and tool."""
        if self.once("dialog", n) is not None:
            return "ALERT", ""
        if self.once("turn", n):
            return ("ACTIVE_FOCUSED" if self.focused(n) else "ACTIVE_UNFOCUSED"), self.tool(n)
        return self.once("rest", n)[0], ""

    def is_over(self, i: int) -> bool:
        """Does event i end a turn? Idle without a Stop does it too, where something is shown that wants an end."""
        event = self.events[i]
        if event.name == "Notification" and event.note == "idle_prompt" and not event.who and self.live:
            return self.once("dialog", i) is not None or self.once("turn", i)
        return event.name in ("Stop", "StopFailure") and not event.who

    # The dialog

    def opens(self, i: int) -> bool:
        event, none = self.events[i], self.once("dialog", i) is None
        if event.name == "PreToolUse" and event.tool == "AskUserQuestion" and not event.who:
            return none
        if event.name == "Notification" and event.note in (
            "permission_prompt",
            "elicitation_dialog",
            "agent_needs_input",
        ):
            return none and bool(self.once("turn", i) or self.aged(i)[0] == "WORKING")
        return event.asks

    def closes(self, i: int, question: Event) -> bool:
        event = self.events[i]
        if self.is_over(i):
            return not question.who or question.who not in self.once("background", i + 1)
        return event.begins or event.prompts or event.answers(question)

    def dialog(self, n: int) -> int | None:
        if not self.live:
            return None
        for at in range(n - 1, -1, -1):
            if self.once("opens", at):
                return None if any(self.closes(i, self.events[at]) for i in range(at + 1, n)) else at
        return None

    def answered(self, i: int) -> Event | None:
        """The question that event i has answered."""
        at = self.once("dialog", i)
        return self.events[at] if at is not None and self.events[i].answers(self.events[at]) else None

    # The turn

    def runs(self, i: int) -> bool:
        """Does event i show that a turn runs?"""
        event, question = self.events[i], self.once("answered", i)
        uses = event.uses and self.once("dialog", i) is None
        return event.prompts or uses or (question is not None and not question.who)

    def turn(self, n: int) -> bool:
        for i in range(n - 1, -1, -1) if self.live else ():
            if self.events[i].begins or self.is_over(i) or self.once("runs", i):
                return self.once("runs", i)
        return False

    def focused(self, n: int) -> bool:
        """As it was when something last looked."""
        for i in range(n - 1, -1, -1):
            event, before = self.events[i], self.once("dialog", i) is None
            repeats = event.prompts and before and self.once("turn", i) and self.is_same_turn(i)
            looks = before and event.after_tool and not event.who and self.once("turn", i)
            if looks or self.once("answered", i) or (self.once("runs", i) and not repeats):
                return event.focused
        raise AssertionError("a turn that never began")

    def tool(self, n: int) -> str:
        for i in range(n - 1, -1, -1):
            event, question = self.events[i], self.once("answered", i)
            if event.begins or self.is_over(i):
                break
            if event.prompts and not (self.once("dialog", i) is None and self.once("turn", i) and self.is_same_turn(i)):
                break
            if question and not question.who and question.name != "Notification" and question.tool:
                return "" if question.tool == "AskUserQuestion" else question.tool
            if event.uses and self.once("dialog", i) is None:
                return event.tool
        return ""

    # What the turn has done

    def forgets(self, i: int) -> bool:
        event = self.events[i]
        return event.begins or self.is_over(i) or (self.live and event.prompts and not self.is_same_turn(i))

    def is_same_turn(self, i: int) -> bool:
        return self.events[i].turn != "" and self.events[i].turn == self.of_turn(i)[0]

    def of_turn(self, n: int) -> tuple[str, bool]:
        """Its id, and whether it has worked."""
        first = next((i for i in range(n - 1, -1, -1) if self.once("forgets", i)), -1)
        opening = [self.events[first].turn] if first >= 0 and self.live and self.events[first].prompts else []
        works = [event.turn for event in self.events[first + 1 : n] if event.worked]
        return next((turn for turn in reversed(opening + works) if turn), ""), bool(works)

    def worked(self, i: int) -> bool:
        (turn, works), now = self.of_turn(i), self.events[i].turn
        return self.events[i].name == "Stop" and works and (turn == now or not turn or not now)

    # The background and the rest

    def left(self, i: int) -> list[str]:
        """What still runs, as event i has it."""
        forgets = [event.begins or event.sends_on or self.is_over(k) for k, event in enumerate(self.events[:i])]
        first = next((k for k in range(i - 1, -1, -1) if forgets[k]), -1)
        over = {event.who for event in self.events[first + 1 : i + 1] if event.name == "SubagentStop" and event.who}
        tasks = self.events[i].tasks
        return [one for one in (self.once("background", i) if tasks is None else tasks) if one not in over]

    def tells_of_work(self, i: int) -> bool:
        """Is it seen at event i, at rest, how the work in the background stands?"""
        if self.once("turn", i) or self.aged(i)[0] != "WORKING":
            return False
        question = self.once("answered", i)
        if self.once("dialog", i) is not None:
            return question is not None and question.who != ""
        return self.events[i].name == "SubagentStop"

    def background(self, n: int) -> list[str]:
        for i in range(n - 1, -1, -1):
            if self.events[i].begins:
                return []
            if self.is_over(i) or self.tells_of_work(i):
                return self.left(i)
        return []

    def aged(self, n: int, at: float | None = None) -> tuple[str, float, float]:
        """The rest when the next event comes."""
        state, since, done = self.once("rest", n)
        now = self.events[n].at if at is None else at
        covered = self.once("dialog", n) is not None or self.once("turn", n)
        return ("IDLE", now, 0.0) if not covered and grows_old(state, since, now) else (state, since, done)

    def rest(self, n: int) -> tuple[str, float, float]:
        """State, since when, when it was completed."""
        if n == 0:
            return "IDLE", 0.0, 0.0
        now, (state, since, done) = self.events[n - 1].at, self.aged(n - 1)
        if self.events[n - 1].begins:
            return "IDLE", now, 0.0
        if self.is_over(n - 1):
            young = done and abs(now - done) <= 1800
            if self.once("background", n):
                return "WORKING", now, done
            if self.worked(n - 1):
                return "COMPLETED", now, now
            return ("COMPLETED", done, done) if young else ("BASE", now, 0.0)
        if self.tells_of_work(n - 1):
            return (state, since, done) if self.once("background", n) else ("COMPLETED", now, now)
        question = self.once("answered", n - 1)
        if question and question.who and not self.once("turn", n - 1):
            since = now if state == "BASE" else since
            return ("IDLE", now, 0.0) if grows_old(state, since, now) else (state, since, done)
        return state, since, done


def grows_old(state: str, since: float, now: float) -> bool:
    return state in ("COMPLETED", "BASE") and abs(now - since) > 1800
