"""Firing an event: its hooks run side by side, what they answer is read as the client reads it."""

import json
import os
from typing import Any

from ibstatus.testkit.fake_claude import hook_payloads
from ibstatus.testkit.fake_claude.settings import Hook, as_dict
from ibstatus.testkit.fake_claude.state import Answer, State, Waiter
from ibstatus.testkit.fake_claude.waits import Child, Course

Json = dict[str, Any]
WHOLE = 10_000  # UTF-16 units of context; more of it is cut
PREVIEW = 2_000
PLAIN_COUNTS = ("SessionStart", "UserPromptSubmit")


def fire(state: State, event: str, extra: Json, subject: str = "") -> Course[Answer]:
    data = json.dumps(payload_of(state, event, extra), ensure_ascii=False).encode("utf-8", "replace")
    env = environment(state)
    running: list[tuple[Hook, Child]] = []
    answer = Answer()
    try:
        due = [(hook, data) for hook in state.settings.hooks(event, subject)]
        for hook, body in state.disorder.runs(event, due):
            child = Child(hook.command, body, env, state.cwd, hook.timeout)
            if hook.is_async:
                state.waiters.append(Waiter(event, hook, child))
            else:
                running.append((hook, child))
        for hook, child in running:
            yield child
            hear(answer, event, hook, child)
    finally:
        for _, child in running:
            child.kill()
    return answer


def payload_of(state: State, event: str, extra: Json) -> Json:
    return hook_payloads.payload(
        event,
        session=state.id,
        transcript=state.transcript.path,
        cwd=state.cwd,
        prompt=state.prompt_id,
        mode=state.mode,
        extra=extra,
    )


def environment(state: State) -> dict[str, str]:
    return {
        **os.environ,
        "CLAUDE_PROJECT_DIR": state.cwd,
        "CLAUDE_CODE_SESSION_ID": state.id,
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": state.entrypoint,
        "CLAUDE_CODE_CHILD_SESSION": "1",
        "CLAUDE_EFFORT": "medium",
        "CLAUDE_PID": str(os.getpid()),
    }


def hear(answer: Answer, event: str, hook: Hook, child: Child) -> None:
    """Exit 2 blocks with stderr, 0 may answer; anything else is not heard, and neither is what timed out."""
    out, err = child.printed()
    if child.timed_out:
        return
    if child.code == 2:
        block(
            answer, event, f"PreToolUse hook error: [{hook.command}]: {err}" if event == "PreToolUse" else err.strip()
        )
    elif child.code == 0 and out.strip():
        said = parsed(out)
        if said is None:
            if event in PLAIN_COUNTS:
                answer.contexts.append(("success", out.strip()))
        else:
            obey(answer, event, said)


def parsed(out: str) -> Json | None:
    if not out.lstrip().startswith("{"):
        return None
    try:
        said = json.loads(out)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def obey(answer: Answer, event: str, said: Json) -> None:
    if said.get("continue") is False:
        answer.stops = True
        answer.reason = str(said.get("stopReason", ""))
    if said.get("decision") == "block":
        block(answer, event, str(said.get("reason", "")))
    own = as_dict(said.get("hookSpecificOutput"))
    if text := own.get("additionalContext"):
        answer.contexts.append(("context", str(text)))
    if event == "PreToolUse" and own.get("permissionDecision"):
        answer.decide(str(own["permissionDecision"]), str(own.get("permissionDecisionReason", "")))
    choice = as_dict(own.get("decision"))
    if event == "PermissionRequest" and choice.get("behavior"):
        answer.decide(str(choice["behavior"]), str(choice.get("message", "")))
    updated = own.get("updatedInput", choice.get("updatedInput"))
    if isinstance(updated, dict):
        answer.updated = updated


def block(answer: Answer, event: str, reason: str) -> None:
    if event == "PreToolUse" or event == "PermissionRequest":
        answer.decide("deny", reason)
    elif answer.blocked is None:
        answer.blocked = reason
    if event.startswith("PostToolUse"):
        answer.contexts.append(("blocking", reason))


def tell(state: State, name: str, answer: Answer) -> None:
    """What the hooks added is shown to the model. `name`: the event, with the tool as in PreToolUse:Bash."""
    for kind, text in answer.contexts:
        if kind == "context":
            state.transcript.context(name, cut(state, text))
        elif kind == "success":
            label = f"{name}:{state.source}" if name == "SessionStart" else name
            state.transcript.attachment("hook_success", f"{label} hook success: {text}", hookName=label)
        else:
            rendered = f"{name} hook blocking error from command: {text}"
            state.transcript.attachment("hook_blocking_error", rendered, hookName=name)


def cut(state: State, text: str) -> str:
    """The client keeps what is too long in a file and shows its beginning."""
    if len(text.encode("utf-16-le", "replace")) // 2 <= WHOLE:
        return text
    folder = f"{state.transcript.path.removesuffix('.jsonl')}/tool-results"
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = f"{folder}/hook-{len(os.listdir(folder)) + 1}.txt"
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return f"Output too large. Full output saved to: {path}\n\nPreview (first 2KB):\n{text[:PREVIEW]}\n..."
