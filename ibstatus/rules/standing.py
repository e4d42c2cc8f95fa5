"""What an event of Claude Code says of its session: at work, waiting for what, done. The last word decides with it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RUNNING, WAITING, COMPLETE, LIMITED = "running", "waiting", "complete", "rate_limited"
COMPACTING, STOPPED = "compacting", "stopped"
INPUT, QUESTION, PLAN, PERMISSION, BACKGROUND = "input", "question", "plan", "permission", "background"
DIALOGS = (QUESTION, PLAN, PERMISSION)
ASKING = {"AskUserQuestion": QUESTION, "ExitPlanMode": PLAN}
LISTENER = "ib listen"  # it waits for us: with it alone in the background nothing is at work
LONGEST_REASON = 100
ENDED = {"prompt_input_exit": "left by /exit", "logout": "logged out"}  # `other` says nothing to anybody


class Standing:
    """A state, its reason, when it was noted; while compacting, what to come back to."""

    __slots__ = ("at", "before", "reason", "state")

    def __init__(self, state: str = "", reason: str = "", at: float = 0.0, before: "tuple[str, str] | None" = None):
        self.state = state
        self.reason = reason
        self.at = at
        self.before = before


def after(name: str, body: "dict[str, Any]", last: Standing) -> Standing | None:
    """The state after this event; None when it stays as it is."""
    now = said(name, body, last)
    return None if now is None or (now.state, now.reason) == (last.state, last.reason) else now


def said(name: str, body: "dict[str, Any]", last: Standing) -> Standing | None:
    if name in ("UserPromptSubmit", "PostToolBatch"):
        return Standing(RUNNING)
    if name == "Stop":
        return ended(body)
    if name == "StopFailure":
        error = body.get("error")
        return Standing(LIMITED) if error == "rate_limit" else Standing(WAITING, "error: " + word(error))
    if name == "PermissionRequest":
        return Standing(WAITING, ASKING.get(word(body.get("tool_name")), PERMISSION))
    if name == "Notification":
        return notified(body, last)
    if name == "PreCompact":
        return None if last.state == COMPACTING else Standing(COMPACTING, before=(last.state, last.reason))
    if name == "PostCompact":
        return compacted(body, last)
    if name == "SessionStart":  # it lives again; what it does next its prompt tells
        return Standing(WAITING, INPUT) if last.state == STOPPED else None
    if name == "SessionEnd":
        return None if body.get("reason") == "clear" else Standing(STOPPED, ENDED.get(word(body.get("reason")), ""))
    return None


def ended(body: "dict[str, Any]") -> Standing:
    from ibstatus.rules import turn_ends

    message = body.get("last_assistant_message")
    state = turn_ends.end_of(message) if isinstance(message, str) else ""
    if state:
        return Standing(state)
    return Standing(RUNNING, BACKGROUND) if is_at_work(body.get("background_tasks")) else Standing(WAITING, INPUT)


def is_at_work(tasks: object) -> bool:
    """Does something run in the background that will wake the session by itself?"""
    known = tasks if isinstance(tasks, list) else []
    running = [task for task in known if isinstance(task, dict) and task.get("status") == "running"]
    return any(LISTENER not in word(task.get("command"), 1000) for task in running)


def notified(body: "dict[str, Any]", last: Standing) -> Standing | None:
    kind = body.get("notification_type")
    if kind == "permission_prompt":
        known = last.state == WAITING and last.reason in DIALOGS
        return None if known else Standing(WAITING, PERMISSION)
    if kind == "idle_prompt":
        settled = last.state in (COMPLETE, WAITING, LIMITED) or (last.state, last.reason) == (RUNNING, BACKGROUND)
        return None if settled else Standing(WAITING, INPUT)
    return None


def compacted(body: "dict[str, Any]", last: Standing) -> Standing | None:
    if last.state != COMPACTING:
        return None
    if last.before is not None and last.before[0]:
        return Standing(*last.before)
    return Standing(RUNNING) if body.get("trigger") == "auto" else Standing(WAITING, INPUT)


def word(value: object, most: int = LONGEST_REASON) -> str:
    """Foreign text as a reason: one line, not long, nothing that steers a terminal."""
    text = value[: most * 4] if isinstance(value, str) else ""
    return "".join([char if char.isprintable() else " " for char in text]).strip()[:most]
