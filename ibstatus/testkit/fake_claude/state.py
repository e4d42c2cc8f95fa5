"""One session: who it is, where it stands, and what is to be seen of it."""

import os
import time
import uuid
from typing import Any, NamedTuple

from ibstatus.testkit.fake_claude import arguments, hook_payloads
from ibstatus.testkit.fake_claude.arguments import Options
from ibstatus.testkit.fake_claude.dialogs import Dialog
from ibstatus.testkit.fake_claude.keyboard_input import PromptLine
from ibstatus.testkit.fake_claude.script import Script, Step
from ibstatus.testkit.fake_claude.settings import Hook, Settings
from ibstatus.testkit.fake_claude.transcript import Transcript
from ibstatus.testkit.fake_claude.waits import Child

Json = dict[str, Any]


class Waiter(NamedTuple):
    """A hook that runs beside the session."""

    event: str
    hook: Hook
    child: Child


class Answer:
    """What all hooks of one event said together: the first that decides has decided."""

    def __init__(self) -> None:
        self.contexts: list[tuple[str, str]] = []  # (kind, text): context, success, blocking
        self.blocked: str | None = None
        self.decision = ""  # allow, deny, ask
        self.reason = ""
        self.updated: Json | None = None
        self.stops = False

    def decide(self, decision: str, reason: str) -> None:
        order = ("", "allow", "ask", "deny")
        if decision in order and order.index(decision) > order.index(self.decision):
            self.decision, self.reason = decision, reason


class Queued:
    """Typed while a turn runs. `answer`: of its hooks, once they have ended."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.answer: Answer | None = None


class State:
    def __init__(self, options: Options, script: Script, *, terminal: bool) -> None:
        self.options = options
        self.cwd = os.getcwd()
        self.id = options.values.get("resume") or options.values.get("session-id") or str(uuid.uuid4())
        self.entrypoint = "cli" if terminal else "sdk-cli"
        self.terminal = terminal
        self.settings = Settings(self.cwd, options.values.get("settings"))
        self.transcript = Transcript(self.cwd, self.id, self.entrypoint)
        self.mode = options.mode or self.settings.mode()
        self.model = options.values.get("model") or "fake"
        self.script = script
        self.source = "resume" if "resume" in options.values else "startup"
        self.prompt_id = ""
        self.last_words = ""
        self.allowed: list[str] = arguments.rules(options.lists.get("allow", []))
        self.denied: list[str] = arguments.rules(options.lists.get("deny", []))
        self.disorder = hook_payloads.of_environment(self.id)
        self.waiters: list[Waiter] = []
        self.wakes: list[str] = []  # what woke us and is not told yet
        self.queue: list[Queued] = []  # typed while a turn runs
        # what is to be seen
        self.shown: list[str] = []
        self.line = PromptLine()
        self.dialog: Dialog | None = None
        self.picture: str | None = None
        self.spinner = ""
        self.trouble = ""  # with the API; it is tried again
        self.turn_began = 0.0
        self.placeholder = ""
        self.hint = ""
        self.warning: list[str] = []
        self.said_since = 0  # where in `shown` the turn began
        self.before_turn: str | None = None  # the entry of the transcript that it began after
        self.is_cut = False  # a tool of it was refused or stopped
        self.after_turn: Dialog | None = None
        self.opened: tuple[float, Dialog] | None = None  # when to say that this dialog is open
        self.leaving: int | None = None  # the exit code, once it is to end
        self.reason = "other"  # why it ends
        self.has_started = False  # SessionStart was fired

    @property
    def is_busy(self) -> bool:
        return bool(self.spinner)

    def show(self, text: str, head: str = "") -> int:
        """A block of the conversation, after an empty line; returns its place, so that it can be changed."""
        self.shown.append(head + text)
        return len(self.shown) - 1

    def say(self, text: str) -> None:
        self.last_words = text
        self.transcript.assistant({"type": "text", "text": text}, self.model)
        self.show(text, "● ")

    def take(self) -> Step | None:
        step = self.script.next()
        if step is not None:
            self.transcript.aside("fake-claude", left=self.script.lines())
        return step

    def clock(self) -> str:
        return time.strftime("%I:%M %p").lstrip("0")
