"""One tool call: hooks before, permission, the deed, hooks after; then what came in meanwhile is handed over.

Whether a tool call may go ahead without anybody being asked.
"""

import time
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

from ibstatus.testkit.fake_claude import dialogs, hook_payloads, hooks
from ibstatus.testkit.fake_claude.dialogs import Dialog
from ibstatus.testkit.fake_claude.state import Answer, State
from ibstatus.testkit.fake_claude.waits import Course

Json = dict[str, Any]
NOT_GRANTED = "Claude requested permissions to use {tool}, but you haven't granted it yet."
REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
)
SIGNALS, KILLED = 128, "Exit code 137"
NO_SUCH_TOOL = "Error: No such tool available: {tool}. {tool} is not available in this session."
HANG = "⎿ \u00a0"  # what hangs on the line above it
NOTIFY_AFTER = 6.0  # seconds that a dialog is open before the client says so


class Interrupted(Exception):
    """Somebody said no, or pressed Esc: the turn is over, and no hook hears of it."""


class Done(NamedTuple):
    """What a tool gave: for the hooks, for the model, for the screen."""

    response: object
    text: str
    seen: str
    failed: bool = False


class Call:
    """`deed` does it; `dialog` asks for permission; `forced`: it is asked for in any mode."""

    def __init__(self, tool: str, given: Json, deed: Callable[[Json], Course[Done]], dialog: Dialog) -> None:
        self.tool = tool
        self.given = given
        self.deed = deed
        self.dialog = dialog
        self.line = str(given.get("command", tool))
        self.refusal = ""
        self.forced = False
        self.needs_terminal = False
        self.id = f"toolu_{uuid.uuid4().hex[:22]}"

    @property
    def facts(self) -> Json:
        return {"tool_name": self.tool, "tool_input": self.given}


def use(state: State, call: Call, doing: str) -> Course[bool]:
    """True when it was done and did not fail. `doing`: what stands on the screen meanwhile."""
    block = {"type": "tool_use", "id": call.id, "name": call.tool, "input": call.given}
    state.transcript.assistant(block, state.model)
    place = state.show(doing)
    call.refusal = "No result recorded for 1 call"
    told: list[tuple[str, Answer]] = []
    done: Done | None = None
    try:
        refused = yield from permitted(state, call, told)
        if refused:
            done = Done("Error: " + refused, refused, f"{doing}\n{HANG}{refused}", failed=True)
        else:
            done = yield from deed(state, call, told)
    finally:
        if done is None:
            give_up(state, call, place)
    state.shown[place] = done.seen
    state.transcript.result(call.id, done.text, done.failed, state.prompt_id, done.response)
    batch = {"tool_calls": [{**call.facts, "tool_use_id": call.id, "tool_response": done.text}]}
    told.append(("PostToolBatch", (yield from hooks.fire(state, "PostToolBatch", batch))))
    for name, answer in told:
        hooks.tell(state, name, answer)
    hand_over(state)
    return not done.failed


def give_up(state: State, call: Call, place: int) -> None:
    """A signal ends what it runs; that is no word of the user's."""
    if (state.leaving or 0) > SIGNALS and state.dialog is None:
        state.transcript.result(call.id, KILLED, True, state.prompt_id, f"Error: {KILLED}")
        return
    state.dialog = None
    state.is_cut = True
    state.shown[place] = f"{call.refusal}\n{HANG}{call.line}"
    state.transcript.result(call.id, REJECTED, True, state.prompt_id, "User rejected tool use")
    state.transcript.block("[Request interrupted by user for tool use]", state.prompt_id)


def permitted(state: State, call: Call, told: list[tuple[str, Answer]]) -> Course[str]:
    """'' or why not, in the words that the model is told."""
    before = yield from hooks.fire(state, "PreToolUse", {**call.facts, "tool_use_id": call.id}, call.tool)
    told.append((f"PreToolUse:{call.tool}", before))
    if before.decision == "deny":
        return before.reason or "Denied by a hook."
    if before.updated is not None:
        call.given = before.updated
    if call.needs_terminal and not state.terminal:
        return NO_SUCH_TOOL.format(tool=call.tool)
    rules = state.settings.rules
    decision = verdict(
        state.mode,
        call.tool,
        call.given,
        [*state.allowed, *rules("allow")],
        [*state.denied, *rules("deny")],
        rules("ask"),
    )
    if decision == "deny":
        return f"Permission to use {call.tool} has been denied."
    is_answered = before.decision == "allow" and (call.tool not in NEED_ANSWERS or "answers" in call.given)
    if is_answered or (decision == "allow" and before.decision != "ask" and not call.forced):
        return ""
    return (yield from asked(state, call))


NEED_ANSWERS = ("AskUserQuestion", "ExitPlanMode")


def asked(state: State, call: Call) -> Course[str]:
    facts = {**call.facts, **hook_payloads.suggestions(call.tool, call.given)}
    answer = yield from hooks.fire(state, "PermissionRequest", facts, call.tool)
    if answer.decision == "deny":
        return answer.reason or REJECTED
    if answer.decision == "allow":
        call.given = answer.updated if answer.updated is not None else call.given
        return ""
    if not state.terminal:
        return NOT_GRANTED.format(tool=call.tool)
    state.dialog = call.dialog
    state.opened = (time.monotonic() + NOTIFY_AFTER, call.dialog)
    yield call.dialog
    state.dialog = None
    return picked(state, call, call.dialog.chosen or "")


def picked(state: State, call: Call, choice: str) -> str:
    if choice in ("", dialogs.NO, dialogs.CHAT):
        call.refusal = "Did not run 1 call"
        raise Interrupted
    if call.tool == "AskUserQuestion":
        text = call.given["questions"][0]["question"]
        call.given = {**call.given, "answers": {text: choice}, "annotations": {}}
    elif choice.startswith("Yes, and don"):
        state.allowed.append(f"Bash({call.given['command']})")
    elif "auto mode" in choice:
        state.mode = "auto"
    elif "accept edits" in choice:
        state.mode = "acceptEdits"
    elif "switch to default" in choice:
        state.mode = "default"
    return ""


def deed(state: State, call: Call, told: list[tuple[str, Answer]]) -> Course[Done]:
    began = time.monotonic()
    done = yield from call.deed(call.given)
    facts = {**call.facts, "tool_use_id": call.id}
    spent = {"duration_ms": int((time.monotonic() - began) * 1000)}
    if done.failed:
        event, extra = "PostToolUseFailure", {**facts, "error": done.text, "is_interrupt": False, **spent}
    else:
        event, extra = "PostToolUse", {**facts, "tool_response": done.response, **spent}
    told.append((f"{event}:{call.tool}", (yield from hooks.fire(state, event, extra, call.tool))))
    return done


def hand_over(state: State) -> None:
    """What was typed, and what rang, while the turn runs."""
    while state.queue and (answer := state.queue[0].answer) is not None:
        text = state.queue.pop(0).text
        state.show(text, "❯ ")
        state.transcript.queued(text)
        hooks.tell(state, "UserPromptSubmit", answer)
        state.script.hear(text)
    while state.wakes:
        text = state.wakes.pop(0)
        state.transcript.attachment("queued_command", text, prompt=text, commandMode="task-notification")


READ_ONLY = frozenset(
    [
        "cat",
        "cd",
        "date",
        "echo",
        "file",
        "find",
        "grep",
        "head",
        "ls",
        "pwd",
        "sort",
        "stat",
        "tail",
        "true",
        "type",
        "uname",
        "wc",
        "which",
    ]
)
READ_ONLY_GIT = frozenset(["blame", "diff", "log", "rev-parse", "show", "status"])
SEPARATORS = ("&&", "||", ";", "|", "\n")
FILES = ("Write", "Edit")


def verdict(mode: str, tool: str, given: Json, allow: list[str], deny: list[str], ask: list[str]) -> str:
    """'allow', 'deny' or 'ask'."""
    if any(covers(rule, tool, given, any_part=True) for rule in deny):
        return "deny"
    if tool in ("AskUserQuestion", "ExitPlanMode"):
        return "ask"
    if any(covers(rule, tool, given, any_part=True) for rule in ask):
        return "ask"
    if mode in ("bypassPermissions", "auto") or any(covers(rule, tool, given, any_part=False) for rule in allow):
        return "allow"
    if tool in FILES:
        return "allow" if mode == "acceptEdits" else "ask"
    if tool == "Bash" and is_covered(given, allow):
        return "allow"
    return "deny" if mode == "dontAsk" else "ask"


def is_covered(given: Json, allow: list[str]) -> bool:
    """Each part of the command line by a rule, or harmless."""
    parts = parts_of(str(given.get("command", "")))
    return all(
        is_harmless(part) or any(covers(rule, "Bash", {"command": part}, any_part=False) for rule in allow)
        for part in parts
    )


def is_harmless(part: str) -> bool:
    words = part.split()
    if not words or any(char in part for char in "><$`&"):
        return not words
    return words[0] in READ_ONLY or (words[0] == "git" and len(words) > 1 and words[1] in READ_ONLY_GIT)


def parts_of(command: str) -> list[str]:
    for separator in SEPARATORS:
        command = command.replace(separator, "\0")
    return [part.strip() for part in command.split("\0")]


def covers(rule: str, tool: str, given: Json, *, any_part: bool) -> bool:
    """`Bash`, `Bash(git log:*)`, `Bash(make *)`, `Write(/tmp/**)`."""
    name, bracket, spec = rule.partition("(")
    if name != tool and not (name == "Edit" and tool == "Write"):
        return False
    if not bracket or spec in (")", "*)"):
        return True
    spec = spec.removesuffix(")")
    if tool != "Bash":
        return is_path_of(str(given.get("file_path", "")), spec)
    command = str(given.get("command", ""))
    return any(is_command_of(part, spec) for part in (parts_of(command) if any_part else [command]))


def is_command_of(command: str, spec: str) -> bool:
    for end in (":*", " *"):
        if spec.endswith(end):
            stem = spec[: -len(end)]
            is_one = not any(separator in command for separator in SEPARATORS)
            return is_one and (command == stem or command.startswith(stem + " "))
    return command == spec


def is_path_of(path: str, spec: str) -> bool:
    from fnmatch import fnmatchcase

    pattern = spec[1:] if spec.startswith("//") else spec
    return fnmatchcase(path, pattern.replace("**", "*")) or fnmatchcase(
        path, "*/" + pattern.lstrip("./").replace("**", "*")
    )
