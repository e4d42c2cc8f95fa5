"""What an event of Claude Code says of its session: at work, waiting for what, done. The last word decides with it.

How an agent ends its turn: by one of two phrases, alone on the last line of what it says.
"""

from ibstatus.model import constants

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


RUNNING, WAITING, COMPLETE, LIMITED = "running", "waiting", "complete", "rate_limited"
COMPACTING, STOPPED = "compacting", "stopped"
INPUT, QUESTION, PLAN, PERMISSION, BACKGROUND = "input", "question", "plan", "permission", "background"
DIALOGS = (QUESTION, PLAN, PERMISSION)
ASKING = {"AskUserQuestion": QUESTION, "ExitPlanMode": PLAN}
LONGEST_REASON = 100
SLOWEST = 60.0  # no hook takes longer
RESTED = 10.0  # before the client says that it waits, it has rested for longer
ENDED = {"prompt_input_exit": "left by /exit", "logout": "logged out"}  # `other` says nothing to anybody


class Standing:
    """A state, its reason, when it was noted; while compacting, what to come back to. `mono`: when the last hook began,
    by a clock that nobody sets. `said` and `silent`, at the end of a turn, are for the event alone."""

    __slots__ = ("at", "before", "mono", "reason", "said", "silent", "state")

    def __init__(self, state: str = "", reason: str = "", at: float = 0.0, before: "tuple[str, str] | None" = None):
        self.state = state
        self.reason = reason
        self.at = at
        self.before = before
        self.mono = 0.0
        self.said = ""
        self.silent = False


def after(name: str, body: "dict[str, Any]", last: Standing) -> Standing | None:
    """The state after this event; None when it stays as it is."""
    now = said(name, body, last)
    same = now is not None and (now.state, now.reason) == (last.state, last.reason)
    return None if same and not is_anew(name, body) else now


def is_anew(name: str, body: "dict[str, Any]") -> bool:
    """A prompt after Esc, of which no hook has told, begins another turn all the same."""
    return name == "UserPromptSubmit" or is_new_client(name, body)


def is_new_client(name: str, body: "dict[str, Any]") -> bool:
    """Whatever the last one was at, it is over: others may have noted how it ended, so the new one is noted anyhow."""
    return name == "SessionStart" and body.get("source") in ("startup", "resume")


def said(name: str, body: "dict[str, Any]", last: Standing) -> Standing | None:
    if name in ("UserPromptSubmit", "PostToolBatch"):
        return Standing(RUNNING)
    if name == "Stop":
        return ended(body)
    if name == "StopFailure":
        return resting(last) or failed(body)
    if name == "PermissionRequest":
        return Standing(WAITING, ASKING.get(word(body.get("tool_name")), PERMISSION))
    if name == "Notification":
        return notified(body, last)
    if name == "PreCompact":
        return None if last.state == COMPACTING else Standing(COMPACTING, before=before(body, last))
    if name == "PostCompact":
        return compacted(body, last)
    if name == "SessionStart":  # it lives again; what it does next its prompt tells
        again = last.state == STOPPED or (last.state != "" and is_new_client(name, body))
        return Standing(WAITING, INPUT) if again else None
    if name == "SessionEnd":
        return None if body.get("reason") == "clear" else Standing(STOPPED, ENDED.get(word(body.get("reason")), ""))
    return None


def failed(body: "dict[str, Any]") -> Standing:
    """Its words tell until when a limit lasts."""

    error, message = body.get("error"), body.get("last_assistant_message")
    found = Standing(LIMITED) if error == "rate_limit" else Standing(WAITING, "error: " + word(error))
    found.said = last_words(message) if isinstance(message, str) else ""
    return found


def ended(body: "dict[str, Any]") -> Standing:

    message = body.get("last_assistant_message")
    text = message if isinstance(message, str) else ""
    state = end_of(text)
    if state:
        found = Standing(state, INPUT if state == WAITING else "")
    elif is_at_work(body.get("background_tasks")):
        found = Standing(RUNNING, BACKGROUND)
    else:
        found = Standing(WAITING, INPUT)
        found.silent = True
    found.said = last_words(text)
    return found


def is_late(mono: float, now: float, last: Standing) -> bool:
    """Did this hook begin before one whose word is already here? After a reboot that clock begins anew."""
    behind = last.mono - mono
    return mono > 0 and 0 < behind < SLOWEST and now - last.at < 2 * SLOWEST


def is_of_before(name: str, body: "dict[str, Any]", age: float, last: Standing) -> bool:
    """The client says that it waits after a minute of rest, so not of a turn that has just begun."""
    waits = name == "Notification" and body.get("notification_type") == "idle_prompt"
    return waits and last.state in (RUNNING, COMPACTING) and 0 <= age < RESTED


def late(name: str, body: "dict[str, Any]", last: Standing) -> Standing | None:
    """What came late changes nothing, except what a compaction comes back to."""
    found = said(name, body, Standing()) if last.state == COMPACTING else None
    if found is None or found.state in (COMPACTING, STOPPED):
        return None
    known = Standing(last.state, last.reason, last.at, (found.state, found.reason))
    return None if known.before == last.before else known


def is_at_work(tasks: object) -> bool:
    """Does something run in the background that will wake the session by itself?"""
    known = tasks if isinstance(tasks, list) else []
    running = [task for task in known if isinstance(task, dict) and task.get("status") == "running"]
    return any(constants.LISTENER not in word(task.get("command"), 1000) for task in running)


def notified(body: "dict[str, Any]", last: Standing) -> Standing | None:
    kind = body.get("notification_type")
    if kind == "permission_prompt":
        known = last.state == WAITING and last.reason in DIALOGS
        return None if known else Standing(WAITING, PERMISSION)
    if kind == "idle_prompt":
        settled = last.state in (COMPLETE, WAITING, LIMITED) or (last.state, last.reason) == (RUNNING, BACKGROUND)
        return None if settled else resting(last) or Standing(WAITING, INPUT)
    return None


def is_rest(state: str, reason: str) -> bool:
    """No turn runs and no dialog is open: a compaction is all there is, and its end ends no turn."""
    rests = state in (COMPLETE, WAITING, LIMITED) and reason not in DIALOGS
    return rests or (state, reason) == (RUNNING, BACKGROUND)


def before(body: "dict[str, Any]", last: Standing) -> "tuple[str, str]":
    """What a compaction comes back to. Whoever types /compact has a prompt line, though no hook told of Esc."""
    manual = body.get("trigger") == "manual" and last.state and not is_rest(last.state, last.reason)
    return (WAITING, INPUT) if manual else (last.state, last.reason)


def resting(last: Standing) -> Standing | None:
    """What one that rested comes back to, in whatever way its compaction ends."""
    known = last.before if last.state == COMPACTING else None
    return Standing(*known) if known is not None and is_rest(*known) else None


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


COMPLETE_PHRASE = "I HAVE COMPLETED THE GOAL"
WAITING_PHRASE = "WAITING"
LONGEST = 300
STATES = {COMPLETE_PHRASE: "complete", WAITING_PHRASE: "waiting"}

BLANK = " \t\r\x0b\x0c\x1c\x1d\x1e\x85\xa0\u2028\u2029\u200b\u200c\u200d\u2060\ufeff"
# Markdown in front (quotes, lists, headings, emphasis, code) and behind, and the end of a sentence. A question mark
# is not the end of one of these.
BEFORE = BLANK + "*_`>#-+\"'([\u201c\u2018"
AFTER = BLANK + "*_`#-\"')]\u201d\u2019.!,;:\u2026\\"


def end_of(message: str) -> str:
    """`complete`, `waiting`, or '' when the last line that says anything is neither phrase, word for word."""
    end = len(message)
    while end > 0:
        start = message.rfind("\n", 0, end) + 1
        line = message[start:end].strip(BLANK)
        if line.lstrip(BEFORE):  # a fence or a rule says nothing
            return STATES.get(line.lstrip(BEFORE).rstrip(AFTER), "")
        end = start - 1
    return ""


def last_words(message: str) -> str:
    """The end of a message in one line that steers no terminal."""
    text = "".join([char if char.isprintable() else " " for char in message[-4 * LONGEST :]])
    words = " ".join(text.split())
    return words if len(words) <= LONGEST else "…" + words[1 - LONGEST :]
