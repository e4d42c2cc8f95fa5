"""FAKE_CLAUDE_HOOKS="repeat=0.1,swap=0.05,drop=0.02,seed=7": hooks that come twice, later than the next, or never.

What decides over a tool and what tells the model is not dropped or put off: a client that did that would be broken, and
no program could hold its promises to it.
"""

import os
import random
import zlib

from ibstatus.testkit.fake_claude.settings import Hook

LATE = ("PostToolUse", "PostToolUseFailure", "Notification")
TWICE = ("PostToolUse", "PostToolUseFailure", "Notification", "PreCompact", "PostCompact", "StopFailure")
Run = tuple[Hook, bytes]


class Disorder:
    """`runs` says what is really run when an event's hooks are due."""

    def __init__(self, written: str, session: str) -> None:
        self.chances = chances(written)
        seed = int(self.chances.get("seed", 0))
        self.random = random.Random(f"{seed} {zlib.crc32(session.encode())}")
        self.late: list[Run] = []

    def runs(self, event: str, hooks: list[Run]) -> list[Run]:
        if not self.chances:
            return hooks
        before, self.late = self.late, []
        if event in LATE and self.is_due("drop"):
            return before
        if event in LATE and self.is_due("swap"):
            self.late = hooks
            return before
        again = [run for run in hooks if not run[0].is_async] if event in TWICE and self.is_due("repeat") else []
        return [*hooks, *again, *before]

    def is_due(self, what: str) -> bool:
        return self.random.random() < self.chances.get(what, 0.0)


def chances(written: str) -> dict[str, float]:
    """A word that is none of ours, or no number, counts for nothing."""
    found: dict[str, float] = {}
    for word in written.split(","):
        name, _, number = word.partition("=")
        try:
            if name.strip() in ("repeat", "swap", "drop", "seed"):
                found[name.strip()] = float(number)
        except ValueError:
            continue
    return found


def of_environment(session: str) -> Disorder:
    return Disorder(os.environ.get("FAKE_CLAUDE_HOOKS", ""), session)
