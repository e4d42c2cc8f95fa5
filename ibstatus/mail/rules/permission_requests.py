"""What an agent asked its client for and nobody is there to grant: how it is logged, what it is told instead."""

from ibstatus.errors import quoted
from ibstatus.system import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ibstatus.project.settings import Settings

ASK, PLAN = "AskUserQuestion", "ExitPlanMode"
LONGEST = 20_000
LONGEST_LOG = 1 << 16

RECORDED = "Recorded as {id}{to}; end your turn with WAITING. The answer comes to you as a message"
LATE = "Your question could not be recorded in time. Ask once more: {instead}, then end your turn with WAITING"
UNREADABLE = "ib could not read what was asked for, so it is not allowed. Try again; else end your turn with WAITING"
STRANGER = "ib knows no such agent any more, so nothing is allowed. Say so and end your turn with WAITING"
NO_QUESTION = "There is no question in this call. Ask with {instead} and end your turn with WAITING"
MAY_NOT = (
    "Agents may not ask the user here (allowAgentQuestions is false): decide yourself, or end your turn with WAITING"
)
BROKEN = "Your question was not recorded: {why}. Decide yourself, or end your turn with WAITING"
NO_PLANS = (
    "Nobody is here to approve a plan, and an agent does not use plan mode. If the plan follows from your task, carry "
    "it out. If it needs a decision, send it ({instead}) and end your turn with WAITING"
)
NOT_ALLOWED = (
    "{tool} is not allowed to this agent as you asked for it, and nobody is here to allow it. Do it another way with "
    "what you may use; if there is none, say what you need and why ({instead}) and end your turn with WAITING"
)


def instead(manager: str) -> str:
    """The command by which this agent reaches whoever decides."""
    return f'ib send {quoted(manager)} "…"' if manager else 'ib ask "…"'


def may_not_ask(known: "Settings") -> str:
    """Why a question does not reach the user; '' when it may. What nobody can read may forbid it."""
    if known.broken:
        return BROKEN.format(why=known.broken[0])
    return "" if known.value("allowAgentQuestions") else MAY_NOT


def name(tool: str) -> str:
    """A tool's name in a sentence."""
    return "".join([char for char in tool[:80] if char.isprintable()]) or "This"


def log_line(tool: str, tool_input: object) -> str:
    """`[PermissionRequest] Permission denied: Bash (command: make, timeout: 5)`."""
    given = tool_input if isinstance(tool_input, dict) else {}
    parts = ", ".join([f"{key}: {told(value)}" for key, value in given.items()])
    line = f"[PermissionRequest] Permission denied: {tool or '?'}" + (f" ({parts})" if parts else "")
    return jsonl.clean(line)[:LONGEST_LOG]


def told(value: object) -> str:
    return value if isinstance(value, str) else jsonl.encode(value)


def questions_text(tool_input: object) -> str:
    """All questions of one call as one text; '' when there is none in a shape that we know."""
    asked = tool_input.get("questions") if isinstance(tool_input, dict) else None
    known = [item for item in asked if isinstance(item, dict)] if isinstance(asked, list) else []
    texts = [text for item in known if (text := question_text(item))]
    if len(texts) > 1:
        texts = [f"{number}. {text}" for number, text in enumerate(texts, 1)]
    return jsonl.clean("\n".join(texts))[:LONGEST]


def question_text(item: "dict[str, Any]") -> str:
    """The question, and its options a line each."""
    question = word(item.get("question")) or word(item.get("header"))
    if not question:
        return ""
    options = item.get("options")
    rows = [option_text(option) for option in options] if isinstance(options, list) else []
    rows = [row for row in rows if row]
    several = ["  (several may be chosen)"] if rows and item.get("multiSelect") is True else []
    return "\n".join([question, *rows, *several])


def option_text(option: object) -> str:
    if isinstance(option, str):
        return f"  - {option}"
    label, about = (word(option.get(key)) for key in ("label", "description")) if isinstance(option, dict) else ("", "")
    return f"  - {label}: {about}" if label and about else f"  - {label or about}" if label or about else ""


def word(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
