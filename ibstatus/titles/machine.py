"""What a session's window shows: the state after an event of Claude Code.

hooks/notify-tmux-state-machine.md draws it; its rows and those of tests/titles/transitions.py are the same.
"""

from ibstatus.model import constants
from ibstatus.titles import glyphs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

IDLE, WORKING, COMPLETED, BASE = "IDLE", "WORKING", "COMPLETED", "BASE"
ACTIVE_UNFOCUSED, ACTIVE_FOCUSED, ALERT = "ACTIVE_UNFOCUSED", "ACTIVE_FOCUSED", "ALERT"
ACTIVE = (ACTIVE_UNFOCUSED, ACTIVE_FOCUSED)
LOUDNESS = (ALERT, ACTIVE_UNFOCUSED, ACTIVE_FOCUSED, WORKING, COMPLETED, BASE, IDLE)

STOP_ONLY, REAL_TIME, OFF = "stop-only", "real-time", "off"
MODES = (STOP_ONLY, REAL_TIME, OFF)

DECAY = 1800
LONGEST = 64  # of a name or an id that is remembered
MOST_ENDED = 100  # agents can be many, and end all at once
SENDING = "SendMessage"
TOOL_ENDS = ("PostToolBatch", "PostToolUse", "PostToolUseFailure")
NEEDS = ("permission_prompt", "elicitation_dialog", "agent_needs_input")


class Known:
    """What is known of a session. `since` and `completed` are epochs, 0.0: never; a COMPLETED state has both the same.
    `visible`: turn `prompt` has done visible work. `asker`, `asked`, `before`: of an open dialog, and what it broke."""

    __slots__ = (
        "asked", "asker", "background", "before", "completed", "ended", "prompt", "since", "state", "tool", "visible",
    )  # fmt: skip

    def __init__(self, state: str = IDLE, since: float = 0.0) -> None:
        self.state = state
        self.since = since
        self.completed = 0.0
        self.tool = self.prompt = self.asker = self.asked = self.before = ""
        self.background: tuple[str, ...] = ()
        self.ended: tuple[str, ...] = ()
        self.visible = False


FIELDS = Known.__slots__


def packed(known: Known) -> "list[Any]":
    """As JSON keeps it."""
    return [getattr(known, field) for field in FIELDS]


def unpacked(values: object) -> Known | None:
    """None when these are not the values of a Known."""
    known = Known()
    if not isinstance(values, list) or len(values) != len(FIELDS):
        return None
    for field, value in zip(FIELDS, values, strict=True):
        value = tuple(value) if isinstance(value, list) else value
        if type(value) is not type(getattr(known, field)):
            return None
        setattr(known, field, value)
    ids = {type(one) for one in known.background + known.ended}
    return known if ids <= {str} and known.state in LOUDNESS else None


VALUES = ("state", "since", "completed", "running", "rank", "glyph", "project")


def values(known: Known, style: str, project: str) -> "list[str]":
    """What tmux is told, as VALUES names it. Whether an active session is looked at only the server knows: no news."""
    state = ACTIVE_UNFOCUSED if known.state in ACTIVE else known.state
    completed = str(int(known.completed)) if known.completed else ""
    running = "1" if known.state == WORKING else "0"
    glyph = glyphs.glyph(known.state, known.tool, style)
    return [state, str(int(known.since)), completed, running, str(rank(state)), glyph, project]


def rank(state: str) -> int:
    """7 is the loudest, 1 the quietest."""
    return len(LOUDNESS) - LOUDNESS.index(state) if state in LOUDNESS else 1


def after(name: str, body: "dict[str, Any]", last: Known, mode: str, focused: bool, now: float) -> Known:
    """The same object when nothing is new."""
    if mode == OFF:
        return last
    new = told(name, body, decayed(last, now), mode == REAL_TIME, focused, now)
    return last if new is last or packed(new) == packed(last) else new


def decayed(last: Known, now: float) -> Known:
    """What was done or at rest half an hour ago is idle."""
    stamp = {COMPLETED: last.completed, BASE: last.since}.get(last.state)
    return into(last, IDLE, now, completed=0.0) if stamp is not None and is_old(stamp, now) else last


def is_old(stamp: float, now: float) -> bool:
    """Strictly more than half an hour; also when a clock that was set back puts it as far ahead."""
    return abs(now - stamp) > DECAY


def told(name: str, body: "dict[str, Any]", last: Known, live: bool, focused: bool, now: float) -> Known:
    who = word(body.get("agent_id"))
    if name in TOOL_ENDS:
        return tool_ended(name, body, last, live, focused, now)
    if name == "SubagentStop":
        return subagent_ended(who, body, last, live, focused, now)
    if live and name in ("PermissionRequest", "Elicitation", "ElicitationResult", "Notification"):
        return talked(name, body, last, focused, now)
    if who:
        return last
    if name == "SessionStart":
        return last if body.get("source") == "compact" else Known(IDLE, now)
    if name in ("Stop", "StopFailure"):
        return stopped(last, left(body, last), name == "Stop" and has_worked(body, last), live, now)
    if live and name == "UserPromptSubmit":
        return prompted(word(body.get("prompt_id")), last, focused, now)
    if live and name == "PreToolUse":
        return tool_began(word(body.get("tool_name")), last, focused, now)
    return last


# The end of a turn


def stopped(last: Known, background: tuple[str, ...], worked: bool, live: bool, now: float) -> Known:
    """The rule at Stop, the same in every state; only a subagent that still asks, asks on."""
    last = but(last, background=background, ended=(), visible=False, prompt="")
    if live and last.state == ALERT and last.asker and last.asker in background:
        return but(last, before=WORKING, tool="")
    if background:
        return into(last, WORKING, now)
    if worked:
        return completed(last, now)
    return rested(last, now)


def completed(last: Known, now: float) -> Known:
    return but(into(last, COMPLETED, now), since=now, completed=now)


def rested(last: Known, now: float) -> Known:
    """Nothing was done: what was done lately stays, else the clock of BASE begins anew."""
    if last.completed and not is_old(last.completed, now):
        return but(into(last, COMPLETED, now), since=last.completed)
    return but(into(last, BASE, now), since=now, completed=0.0)


def has_worked(body: "dict[str, Any]", last: Known) -> bool:
    """In this turn, not in one that was broken off before it."""
    turn = word(body.get("prompt_id"))
    return last.visible and (not turn or not last.prompt or turn == last.prompt)


def left(body: "dict[str, Any]", last: Known) -> tuple[str, ...]:
    """What runs in the background: as the event lists it, else as it was known, and without what has ended."""
    tasks = body.get("background_tasks")
    ids = listed(tasks) if isinstance(tasks, list) else last.background
    return tuple([task for task in ids if task == "" or task not in last.ended])


def listed(tasks: "list[Any]") -> tuple[str, ...]:
    return tuple([word(task.get("id")) for task in tasks if is_running(task)])


def is_running(task: "Any") -> bool:
    """Does this task of the payload do any work? A listener only waits for us."""
    running = isinstance(task, dict) and task.get("status") == "running"
    return running and constants.LISTENER not in str(task.get("command"))[:1000]


# The background


def subagent_ended(who: str, body: "dict[str, Any]", last: Known, live: bool, focused: bool, now: float) -> Known:
    if who and who not in last.ended:
        last = but(last, ended=(*last.ended, who)[-MOST_ENDED:])
    if live and last.state == ALERT and who and who == last.asker:
        return answered(last, left(body, last), focused, now)
    return settled(last, left(body, last), now) if last.state == WORKING else last


def settled(last: Known, background: tuple[str, ...], now: float) -> Known:
    """The work in the background goes on, or is done at last."""
    last = but(last, background=background)
    return into(last, WORKING, now) if background else completed(last, now)


# Tools and prompts


def tool_ended(name: str, body: "dict[str, Any]", last: Known, live: bool, focused: bool, now: float) -> Known:
    who = word(body.get("agent_id"))
    if live and last.state == ALERT and is_answer(name, body, who, last):
        last = answered(last, left(body, last), focused, now)
    if who:
        return last
    if live and last.state in ACTIVE:
        last = active(last, last.tool, focused, now)
    used = tools(body)
    if SENDING in used:
        last = but(last, ended=())  # who had ended may run again, under the same id
    if not any(map(glyphs.is_visible, used)):
        return last
    return but(last, visible=True, prompt=word(body.get("prompt_id")) or last.prompt)


def tools(body: "dict[str, Any]") -> "list[str]":
    calls = body.get("tool_calls")
    given = [call.get("tool_name") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return [word(name) for name in (*given, body.get("tool_name"))]


def prompted(turn: str, last: Known, focused: bool, now: float) -> Known:
    """What is typed in mid-turn bears that turn's id and begins nothing."""
    same = turn != "" and turn == last.prompt
    if same and last.state in ACTIVE:
        return last
    return but(active(last, "", focused, now), prompt=turn, visible=same and last.visible)


def tool_began(tool: str, last: Known, focused: bool, now: float) -> Known:
    """An alert is ended by its answer, not by another tool that passes by."""
    if last.state == ALERT:
        return last
    return asks(last, "", tool, now) if tool == glyphs.ASKING else active(last, tool, focused, now)


def active(last: Known, tool: str, focused: bool, now: float) -> Known:
    return but(into(last, ACTIVE_FOCUSED if focused else ACTIVE_UNFOCUSED, now), tool=tool)


# Dialogs


def talked(name: str, body: "dict[str, Any]", last: Known, focused: bool, now: float) -> Known:
    who = word(body.get("agent_id"))
    if name == "Notification":
        return notified(body.get("notification_type"), who, body, last, now)
    if name != "ElicitationResult":
        return asks(last, who, word(body.get("tool_name")), now)
    ours = last.state == ALERT and last.asker == who and last.asked == ""
    return answered(last, left(body, last), focused, now) if ours else last


def notified(kind: object, who: str, body: "dict[str, Any]", last: Known, now: float) -> Known:
    if kind in NEEDS and last.state in (*ACTIVE, WORKING):
        return asks(last, who, "", now)
    if kind == "idle_prompt" and not who and last.state in (*ACTIVE, ALERT):
        return stopped(last, left(body, last), False, True, now)  # the user has broken off: no Stop came
    return last


def asks(last: Known, who: str, tool: str, now: float) -> Known:
    before = last.before if last.state == ALERT else last.state
    return but(into(last, ALERT, now), asker=who, asked=tool, before=before)


def is_answer(name: str, body: "dict[str, Any]", who: str, last: Known) -> bool:
    if who != last.asker:
        return False
    return name == "PostToolBatch" or (last.asked != "" and word(body.get("tool_name")) == last.asked)


def answered(last: Known, background: tuple[str, ...], focused: bool, now: float) -> Known:
    """The session goes on; one that was at rest while a subagent asked goes back to what it was."""
    if last.asker and last.before == WORKING:
        return settled(last, background, now)
    if last.asker and last.before == COMPLETED:
        return decayed(but(into(last, COMPLETED, now), since=last.completed), now)
    if last.asker and last.before in (BASE, IDLE):
        return into(last, last.before, now)
    tool = last.tool if last.asker or not last.asked else last.asked
    return active(last, "" if tool == glyphs.ASKING else tool, focused, now)


def into(last: Known, state: str, now: float, **more: "Any") -> Known:
    """Another state, another Known: none is ever changed. What belongs to the old one alone is forgotten."""
    if state != ALERT:
        more = {"asker": "", "asked": "", "before": "", **more}
    if state != ALERT and state not in ACTIVE:
        more = {"tool": "", **more}
    return but(last, state=state, since=last.since if state == last.state else now, **more)


def but(last: Known, **more: "Any") -> Known:
    if [getattr(last, field) for field in more] == list(more.values()):
        return last
    new = Known()
    for field in FIELDS:
        setattr(new, field, more[field] if field in more else getattr(last, field))
    return new


def word(value: object) -> str:
    """A name or an id of the payload; '' for what is none."""
    return value[:LONGEST] if isinstance(value, str) else ""
