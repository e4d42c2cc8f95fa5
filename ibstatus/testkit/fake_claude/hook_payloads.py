"""What a hook gets on stdin: every field that the client was recorded to send with each event."""

from typing import Any

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
