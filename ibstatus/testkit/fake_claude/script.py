"""The script: which steps the model takes, and where it stands in them.

`orders FILE`: steps that somebody adds to a file while we run, so that a rehearsal is conducted from outside.

FILE.at says how many lines were taken and how the last turn ended: a session that is resumed goes on behind them.
"""

import os
import time
from typing import NamedTuple

from ibstatus.errors import IbError

MARK = "> "
VERBS = (
    *("say", "work", "run", "write", "commit", "ask", "plan", "wait", "finish", "end"),
    *("error", "limit", "dialog", "screen", "compact", "crash", "hang", "orders", "hold", "retry"),
)
STAND_IN = "I am fake-claude, a stand-in for Claude Code: I have no model and did nothing."
DEFAULT = ("work 0.3", f"wait {STAND_IN}")
FIRST_DIALOGS = ("trust", "trust-a", "bypass")


class Step(NamedTuple):
    verb: str
    rest: str


def steps(lines: list[str]) -> list[Step]:
    """Empty lines and comments are left out; an unknown word is said aloud rather than guessed at."""
    found = []
    for line in lines:
        verb, _, rest = line.strip().partition(" ")
        if not verb or verb.startswith("#"):
            continue
        found.append(Step(verb, rest.strip()) if verb in VERBS else Step("say", f"(no such step: {line.strip()})"))
    return found


def of_prompt(prompt: str) -> list[Step]:
    return steps([line[len(MARK) :] for line in prompt.splitlines() if line.startswith(MARK)])


def of_environment() -> list[Step]:
    path = os.environ.get("FAKE_CLAUDE_SCRIPT", "")
    if os.path.isdir(path):  # a script for each agent, by its name
        path = os.path.join(path, os.environ.get("IB_AGENT_ID", ""))
        path = path if os.path.isfile(path) else ""
    if not path:
        return []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return steps(file.read().splitlines())
    except OSError as error:
        raise IbError(f"Could not read the script {path}", cause=str(error), hint="unset FAKE_CLAUDE_SCRIPT") from error


class Script:
    """What is left to do."""

    def __init__(self, left: list[Step]) -> None:
        self.left = left
        self.is_given = bool(left)
        self.is_first = bool(left)  # the first prompt brought it, or is not to replace it

    def opening(self) -> list[str]:
        """The dialogs that come before the session starts are taken off."""
        names = []
        while self.left and self.left[0].verb == "dialog" and self.left[0].rest in FIRST_DIALOGS:
            names.append(self.left.pop(0).rest)
        return names

    def hear(self, prompt: str) -> None:
        """A later prompt with steps replaces what is left."""
        own = [] if self.is_first else of_prompt(prompt)
        self.is_first = False
        if own:
            self.left = own
            self.is_given = True

    def next(self) -> Step | None:
        return self.left.pop(0) if self.left else None

    def lines(self) -> list[str]:
        return [f"{step.verb} {step.rest}".strip() for step in self.left]


POLL = 2.0  # a signal such as SIGCHLD makes it look at once
ENDS = ("wait", "finish", "end", "error", "limit")
OVER = Step("wait", "")


class At(NamedTuple):
    taken: int = 0
    end: Step = OVER


def next_of(path: str) -> Step:
    """Without an order the turn ends as the last one did: who has reached the goal has reached it, a limit lasts."""
    at, given = position(path), lines(path)
    if at.taken >= len(given):
        return at.end
    step = (steps([given[at.taken]]) or [Step("work", "0")])[0]
    if step.verb == "hold":  # somebody may interrupt it
        note(path, At(at.taken + 1))
        return Step("hold", f"{path}\n{step.rest}" if step.rest else path)
    note(path, At(at.taken + 1, step if step.verb in ENDS else at.end))
    return step


def has_more(path: str) -> bool:
    return position(path).taken < len(lines(path))


def lines(path: str) -> list[str]:
    """A line that is still being written waits."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().split("\n")[:-1]
    except OSError:
        return []


def position(path: str) -> At:
    try:
        with open(path + ".at", encoding="utf-8") as file:
            number, _, end = file.read().partition(" ")
        return At(int(number), (steps([end]) or [OVER])[0])
    except (OSError, ValueError):
        return At()


def note(path: str, at: At) -> None:
    with open(path + ".at.new", "w", encoding="utf-8") as file:
        file.write(f"{at.taken} {at.end.verb} {at.end.rest}")
    os.replace(path + ".at.new", path + ".at")


class More:
    """Until there is a next order."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def deadline(self) -> float:
        return time.monotonic() + POLL

    def over(self, now: float) -> bool:
        return has_more(self.path)
