"""The client as a whole: turns run one after the other, hooks beside it wake it, it leaves in order."""

import math
import signal
import time
from typing import Any

from ibstatus.testkit.fake_claude import hooks, screen, turn
from ibstatus.testkit.fake_claude.event_loop import ENDING, Loop
from ibstatus.testkit.fake_claude.keyboard import Keyboard
from ibstatus.testkit.fake_claude.state import State
from ibstatus.testkit.fake_claude.terminal import Terminal
from ibstatus.testkit.fake_claude.waits import Course, Nap

FRAME = 0.25  # seconds between two pictures of the spinner
IDLE_AFTER = 60.0  # seconds after a turn until the client says that it waits
GRACE = 10.0  # seconds for the hooks of SessionEnd


class Client:
    def __init__(self, state: State, terminal: Terminal | None) -> None:
        self.state = state
        self.terminal = terminal
        self.loop = Loop()
        self.keyboard = Keyboard(state, self.loop, self.begin, self.go_on)
        self.idle_at = math.inf

    def run(self, seconds: int) -> int:
        """The exit code. `seconds`: since the last answer of a session that is resumed."""
        self.begin(turn.start(self.state, seconds))
        if self.state.options.prompt:
            self.keyboard.prompts.append(self.state.options.prompt)
        while self.state.leaving is None:
            self.round()
        return self.leave(self.state.leaving)

    def begin(self, course: Course[Any]) -> None:
        """The start, a turn, or a shell command: one at a time."""
        self.idle_at = math.inf
        self.keyboard.course = self.loop.start(course)

    def go_on(self) -> None:
        """As far as it gets without anything new."""
        while self.state.leaving is None and (self.loop.advance() or self.settle()):
            pass

    def round(self) -> None:
        self.go_on()
        if self.state.leaving is not None:
            return
        if self.terminal is not None:
            self.terminal.draw(screen.frame(self.state, *self.terminal.size()))
        files = [self.terminal.keys] if self.terminal else []
        if self.loop.until_next(files, self.deadline()):
            self.read()
        self.signals()
        now = time.monotonic()
        self.keyboard.times(now)
        self.notify(now)

    def deadline(self) -> float:
        """When something is to be done although nothing happens."""
        frame = time.monotonic() + FRAME if self.state.is_busy and self.terminal else math.inf
        opened = self.state.opened[0] if self.state.opened else math.inf
        waiters = [waiter.child.deadline for waiter in self.state.waiters]
        return min([frame, opened, self.idle_at, self.keyboard.deadline, *waiters])

    def settle(self) -> bool:
        """What follows from what has ended; True when something new began."""
        self.gather()
        if self.keyboard.is_busy:
            return False
        if self.keyboard.course is not None:
            self.keyboard.course = None
            self.turn_over()
            return True
        return self.state.dialog is None and self.next()

    def next(self) -> bool:
        state, prompts = self.state, self.keyboard.prompts
        if prompts or state.queue:
            self.begin(turn.of_prompt(state, prompts.pop(0) if prompts else state.queue.pop(0).text))
        elif state.wakes:
            text, state.wakes[:] = "\n".join(state.wakes), []
            self.begin(turn.of_prompt(state, text, woken=True))
        elif self.terminal is None and not state.waiters:
            state.leaving = 0
        else:
            return False
        return True

    def turn_over(self) -> None:
        self.state.spinner = ""
        self.state.opened = None
        if self.state.prompt_id:
            self.idle_at = time.monotonic() + IDLE_AFTER
        if self.state.after_turn is not None and self.terminal is not None:
            self.state.dialog, self.state.after_turn = self.state.after_turn, None

    def gather(self) -> None:
        """Hooks that ran beside us and have ended: exit 2 wakes."""
        for waiter in list(self.state.waiters):
            if not waiter.child.over(time.monotonic()):
                continue
            self.state.waiters.remove(waiter)
            out, err = waiter.child.printed()
            if waiter.hook.rewakes and waiter.child.code == 2 and not waiter.child.timed_out:
                self.state.wakes.append(turn.wake_of(waiter.event, err or out))

    def notify(self, now: float) -> None:
        if now >= self.idle_at:
            self.idle_at = math.inf
            self.loop.start(turn.notify(self.state, "idle_prompt", "Claude is waiting for your input"))
        if self.state.opened and now >= self.state.opened[0]:
            dialog, self.state.opened = self.state.opened[1], None
            if dialog is self.state.dialog:
                self.loop.start(turn.notify(self.state, "permission_prompt", "Claude needs your permission"))

    def signals(self) -> None:
        came, self.loop.signals = self.loop.signals, set()
        if signal.SIGWINCH in came and self.terminal is not None:
            self.terminal.forget()
        for number in ENDING:
            if number in came:
                self.state.leaving = 128 + number

    def read(self) -> None:
        assert self.terminal is not None
        data = self.terminal.read()
        if data is None:
            self.state.leaving = 128 + signal.SIGHUP
        else:
            self.keyboard.feed(data)

    def leave(self, code: int) -> int:
        """Everything that runs is ended, SessionEnd is fired, the screen is put back."""
        for course in list(self.loop.courses):
            self.loop.stop(course)
        for waiter in self.state.waiters:
            waiter.child.kill()
        if self.state.has_started:
            self.last(hooks.fire(self.state, "SessionEnd", {"reason": self.state.reason}, self.state.reason))
        if self.terminal is not None:
            self.terminal.close()
        return code

    def last(self, course: Course[Any]) -> None:
        """Only its time ends it early; further signals do not."""
        self.loop.start(course)
        limit = Nap(GRACE)
        while self.loop.advance() or self.loop.is_running(course):
            if limit.over(time.monotonic()):
                self.loop.stop(course)
            elif self.loop.is_running(course):
                self.loop.until_next([], limit.deadline)
