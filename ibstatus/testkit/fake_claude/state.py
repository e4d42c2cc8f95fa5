"""One session: who it is, where it stands, and what is to be seen of it.

The beginning of a session: a new one, or one whose transcript is there.
"""

import calendar
import os
import time
import uuid
from typing import Any, NamedTuple

from ibstatus.testkit.fake_claude import arguments, hook_payloads, script, transcript
from ibstatus.testkit.fake_claude.arguments import Options, Refused
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


SPOKEN = ("user", "assistant", "attachment", "system")  # what it writes of itself alone is no conversation
SEEN = 20  # so many of its last texts are drawn


def fresh(state: State) -> int:
    if transcript.find(state.cwd, state.id):
        raise Refused(f"Error: Session ID {state.id} is already in use.")
    return 0


def take_up(state: State) -> int:
    """Draw what it said last, and go on in its script; a step that was begun is not played again."""
    path = transcript.find(state.cwd, state.id)
    if path is None or not any(line.get("type") in SPOKEN for line in transcript.lines(path)):
        raise Refused(f"No conversation found with session ID: {state.id}")
    last = 0.0
    for line in transcript.lines(path):
        if line.get("type") == "fake-claude":
            state.script.left = script.steps([str(step) for step in line.get("left", [])])
            state.script.is_given, state.script.is_first = True, False
        elif line.get("type") in ("user", "assistant"):
            state.transcript.parent = str(line.get("uuid", "")) or None
            last = seconds(str(line.get("timestamp", ""))) or last
            state.shown += texts(line)
    del state.shown[:-SEEN]
    state.last_words = next((text[2:] for text in reversed(state.shown) if text.startswith("● ")), "")
    return int(time.time() - last) if last else 0


def seconds(stamp: str) -> float:
    try:
        return float(calendar.timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S")))
    except ValueError:
        return 0.0


def texts(line: Json) -> list[str]:
    content = (line.get("message") or {}).get("content")
    if line.get("type") == "user":
        return [f"❯ {content}"] if isinstance(content, str) else []
    blocks = content if isinstance(content, list) else []
    return [
        f"● {block.get('text', '')}" if block.get("type") == "text" else f"● {block.get('name', '')}"
        for block in blocks
        if block.get("type") in ("text", "tool_use")
    ]
