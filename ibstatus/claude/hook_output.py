"""What a hook prints, in the client's own form: one JSON object a hook."""

from ibstatus.system import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def context(event: str, text: str, visible: str = "") -> str:
    """Text for the model; `visible` is shown to the user alone."""
    return form({"hookEventName": event, "additionalContext": text}, visible)


def watch(event: str, paths: list[str]) -> str:
    """Files whose change the client reports by FileChanged."""
    return form({"hookEventName": event, "watchPaths": paths})


def allow() -> str:
    return form({"hookEventName": "PreToolUse", "permissionDecision": "allow"})


def deny(reason: str) -> str:
    """PreToolUse: the tool does not run, the model reads the reason."""
    return form({"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason})


def refuse(message: str) -> str:
    """PermissionRequest: no dialog, the model reads the message."""
    return form({"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": message}})


def nothing() -> str:
    """No decision. For a guard, whose silence would be taken for a breakdown."""
    return "{}"


def form(output: "dict[str, Any]", visible: str = "") -> str:
    answer: dict[str, Any] = {"hookSpecificOutput": output}
    if visible:
        answer["systemMessage"] = visible
    return jsonl.encode(answer)
