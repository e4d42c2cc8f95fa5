"""What is pressed, typed and pasted: into the dialog that is open, else onto the prompt line, from there to a turn."""

import math
import time
from collections.abc import Callable
from typing import Any

from ibstatus.testkit.fake_claude import keyboard_input, steps, turn
from ibstatus.testkit.fake_claude.dialogs import Dialog
from ibstatus.testkit.fake_claude.event_loop import Loop
from ibstatus.testkit.fake_claude.state import State
from ibstatus.testkit.fake_claude.waits import Course

ESCAPE_AFTER = 0.05  # seconds after which a lone ESC was the key
TWICE = 1.0  # seconds within which the second Ctrl-C counts
NEXT_MODE = {"default": "acceptEdits", "acceptEdits": "plan", "plan": "auto", "auto": "default"}


class Keyboard:
    """`begin` starts a course, `answered` is told when a dialog was."""

    def __init__(
        self, state: State, loop: Loop, begin: Callable[[Course[Any]], None], answered: Callable[[], None]
    ) -> None:
        self.state = state
        self.loop = loop
        self.begin = begin
        self.answered = answered
        self.reader = keyboard_input.Reader()
        self.escape_at = math.inf
        self.pressed = ""  # Ctrl-C or Ctrl-D, once
        self.pressed_until = math.inf
        self.prompts: list[str] = []  # that are to be turns
        self.course: Course[Any] | None = None  # the one that runs

    @property
    def deadline(self) -> float:
        return min(self.escape_at, self.pressed_until)

    @property
    def is_busy(self) -> bool:
        return self.loop.is_running(self.course)

    def feed(self, data: bytes) -> None:
        self.events(self.reader.feed(data))
        self.escape_at = time.monotonic() + ESCAPE_AFTER if self.reader.may_be_escape else math.inf

    def times(self, now: float) -> None:
        if now >= self.escape_at:
            self.escape_at = math.inf
            self.events(self.reader.escape())
        if now >= self.pressed_until:
            self.pressed, self.pressed_until = "", math.inf
            self.state.warning = []

    def events(self, events: list[keyboard_input.Event]) -> None:
        for event in events:
            if self.state.dialog is not None:
                self.to_dialog(self.state.dialog, event)
            elif self.state.picture is not None and event.value != "Escape":
                continue
            elif event.kind == "text":
                self.state.line.type(event.value)
            elif event.kind == "paste":
                gone = self.state.line.paste(event.value)
                self.state.hint = f"Removed {gone} invisible characters from your message" if gone else ""
            else:
                self.key(event.value)

    def to_dialog(self, dialog: Dialog, event: keyboard_input.Event) -> None:
        """Text is swallowed; a digit that was typed alone is an answer."""
        if event.kind == "key" or (event.kind == "text" and len(event.value) == 1):
            dialog.key(event.value)
        if dialog.chosen is not None:
            if not self.is_busy:
                self.state.dialog = None
            self.answered()

    def key(self, name: str) -> None:
        line = self.state.line
        edit = {"BSpace": line.back, "C-u": line.kill, "C-w": line.kill_word, "C-y": line.yank}.get(name)
        if name == "Enter":
            self.enter()
        elif name == "Newline":
            line.type("\n")
        elif name in ("Escape", "C-c", "C-d"):
            self.stop(name)
        elif name == "BTab":
            self.state.mode = NEXT_MODE.get(self.state.mode, "default")
        elif name == "Up" and self.state.queue and line.is_empty:
            line.paste("\n".join(item.text for item in self.state.queue))
            self.state.queue.clear()
        elif edit is not None:
            edit()
            self.state.hint = "ctrl+y to paste deleted text" if name == "C-u" else self.state.hint

    def enter(self) -> None:
        state = self.state
        is_shell = state.line.is_shell
        text = state.line.clear().rstrip("\n")
        state.hint = ""
        if not text.strip():
            return
        if is_shell and not self.is_busy:
            self.begin(turn.shell(state, text))
        elif text.strip() in ("/exit", "/quit"):
            self.leave()
        elif self.is_busy and state.is_busy:
            self.loop.start(turn.typed_meanwhile(state, text))
        elif text.strip() == "/compact" and not self.is_busy:
            state.show(text, "❯ ")
            self.begin(steps.typed_compact(state))
        else:
            self.prompts.append(text)

    def stop(self, name: str) -> None:
        """Esc and Ctrl-C stop what runs; Ctrl-C empties the line; twice on an empty line leaves."""
        state = self.state
        if state.is_busy and self.is_busy and name != "C-d":
            self.loop.stop(self.course)
            turn.interrupt(state)
        elif name == "Escape":
            state.warning = []
        elif not state.line.is_empty or state.line.is_shell:
            if name == "C-c":
                state.line.clear()
        elif self.pressed == name:
            self.leave()
        else:
            self.pressed, self.pressed_until = name, time.monotonic() + TWICE
            state.warning = [f"Press Ctrl-{name[-1].upper()} again to exit"]

    def leave(self) -> None:
        self.state.leaving, self.state.reason = 0, "prompt_input_exit"
