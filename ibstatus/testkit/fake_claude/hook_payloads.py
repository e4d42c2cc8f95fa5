"""What a hook gets on stdin: every field that the client was recorded to send with each event.

FAKE_CLAUDE_HOOKS="repeat=0.1,swap=0.05,drop=0.02,seed=7": hooks that come twice, later than the next, or never.

What decides over a tool and what tells the model is not dropped or put off: a client that did that would be broken, and
no program could hold its promises to it.
"""

import os
import random
import zlib
from typing import Any

from ibstatus.testkit.fake_claude.settings import Hook

Json = dict[str, Any]
EFFORT = {"level": "medium"}
WITH_MODE = frozenset(
    (
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "PermissionRequest",
        "Stop",
    )
)
WITH_EFFORT = (WITH_MODE - {"UserPromptSubmit"}) | {"StopFailure"}


def payload(event: str, *, session: str, transcript: str, cwd: str, prompt: str, mode: str, extra: Json) -> Json:
    """`prompt` is the id of the turn; '' before the first."""
    found: Json = {"session_id": session, "transcript_path": transcript, "cwd": cwd}
    if prompt:
        found["prompt_id"] = prompt
    if event in WITH_MODE:
        found["permission_mode"] = mode
    if event in WITH_EFFORT:
        found["effort"] = EFFORT
    return {**found, "hook_event_name": event, **extra}


def resumed(seconds: int) -> Json:
    return {
        "source": "resume",
        "seconds_since_last_response": seconds,
        "context_tokens": 120,
        "prompt_cache_likely_expired": seconds > 300,
        "estimated_cache_write_usd": 0.0006,
    }


def stopped(message: str, active: bool) -> Json:
    return {
        "stop_hook_active": active,
        "last_assistant_message": message,
        "background_tasks": [],
        "session_crons": [],
    }


def bash_response(out: str, err: str) -> Json:
    return {"stdout": out, "stderr": err, "interrupted": False, "isImage": False, "noOutputExpected": False}


def write_response(path: str, text: str, before: str | None) -> Json:
    return {
        "type": "create" if before is None else "update",
        "filePath": path,
        "content": text,
        "structuredPatch": [],
        "originalFile": before,
        "userModified": False,
    }


def suggestions(tool: str, given: Json) -> Json:
    """What the dialog would offer to allow for ever; nothing for a question or a plan."""
    if tool == "Bash":
        rules = [{"toolName": "Bash", "ruleContent": given.get("command", "")}]
        offer: Json = {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "localSettings"}
    elif tool == "Write":
        offer = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    else:
        return {}
    return {"permission_suggestions": [offer]}


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
