"""A turn: a prompt comes in, the model plays its steps, the turn ends; and what happens around turns."""

import time
import uuid
from typing import Any

from ibstatus.testkit.fake_claude import hook_payloads, hooks, steps, tool_steps, tools
from ibstatus.testkit.fake_claude.state import Queued, State
from ibstatus.testkit.fake_claude.tools import Interrupted
from ibstatus.testkit.fake_claude.waits import Child, Course

Json = dict[str, Any]
VERBS = ("Brewing", "Churning", "Crunching", "Gusting", "Sautéing", "Working")
PAST = ("Brewed", "Churned", "Crunched", "Gusted", "Sautéed", "Worked")
MOST_BLOCKS = 8  # after so many in a row the client stops all the same
INTERRUPTED = "Interrupted · What should Claude do instead?"


def start(state: State, seconds: int) -> Course[None]:
    """The dialogs before it, then SessionStart."""
    for kind in state.script.opening():
        yield from steps.stand_before(state, kind)
        if state.leaving is not None:
            return
    state.has_started = True
    extra: Json = hook_payloads.resumed(seconds) if state.source == "resume" else {"source": "startup"}
    answer = yield from hooks.fire(state, "SessionStart", {**extra, "model": state.model}, state.source)
    hooks.tell(state, "SessionStart", answer)


def of_prompt(state: State, prompt: str, *, woken: bool = False) -> Course[None]:
    """`woken`: nobody typed it."""
    begin(state)
    if not woken:
        state.show(prompt, "❯ ")
    answer = yield from hooks.fire(state, "UserPromptSubmit", {"prompt": prompt})
    if answer.blocked is not None or answer.stops:
        state.show(f"UserPromptSubmit operation blocked by hook:\n{answer.blocked or answer.reason}", tools.HANG)
        return
    state.transcript.prompt(prompt, state.prompt_id, state.mode)
    hooks.tell(state, "UserPromptSubmit", answer)
    state.script.hear(prompt)
    try:
        failed = yield from rounds(state, woken)
    except Interrupted:
        state.show(INTERRUPTED, tools.HANG)
        return
    if failed:
        return
    number = VERBS.index(state.spinner) if state.spinner in VERBS else 0
    spent = int(time.monotonic() - state.turn_began)
    state.show(f"{PAST[number]} for {spent}s · done {state.clock()}", "✻ ")


def begin(state: State) -> None:
    state.prompt_id = str(uuid.uuid4())
    state.turn_began = time.monotonic()
    state.spinner = VERBS[int(state.prompt_id[:2], 16) % len(VERBS)]
    state.placeholder = ""
    state.warning = []
    state.said_since = len(state.shown)
    state.before_turn = state.transcript.parent
    state.is_cut = False


def rounds(state: State, active: bool) -> Course[bool]:
    """Until a Stop hook lets it end; True when it failed."""
    for number in range(MOST_BLOCKS + 1):
        end = yield from steps.play(state)
        if end.error:
            extra = {"error": end.error, "last_assistant_message": end.words}
            yield from hooks.fire(state, "StopFailure", extra, end.error)
            return True
        answer = yield from hooks.fire(state, "Stop", hook_payloads.stopped(end.words, active))
        reason = answer.blocked if answer.blocked is not None else "\n".join(text for _, text in answer.contexts)
        if answer.stops or not reason or number == MOST_BLOCKS:
            break
        if answer.blocked is not None:
            text = f"Stop hook blocking error from command: {reason}"
            state.transcript.attachment("hook_blocking_error", text, hookName="Stop")
        else:
            hooks.tell(state, "Stop", answer)
        active = True
        tools.hand_over(state)
    return False


def typed_meanwhile(state: State, text: str) -> Course[None]:
    """A prompt of a running turn: the hooks are asked at once, with the turn's id."""
    item = Queued(text)
    state.queue.append(item)
    answer = yield from hooks.fire(state, "UserPromptSubmit", {"prompt": text})
    item.answer = answer
    if answer.blocked is not None and item in state.queue:
        state.queue.remove(item)
        state.show(f"UserPromptSubmit operation blocked by hook:\n{answer.blocked}", tools.HANG)


def notify(state: State, kind: str, message: str) -> Course[None]:
    yield from hooks.fire(state, "Notification", {"message": message, "notification_type": kind}, kind)


def shell(state: State, command: str) -> Course[None]:
    """`! command`: run beside the conversation, and put into it."""
    place = state.show(command, "! ")
    child = Child(command, b"", hooks.environment(state), state.cwd, tool_steps.TOOL_TIME)
    try:
        yield child
    finally:
        child.kill()
    out, err = child.printed()
    state.shown[place] = f"! {command}\n{tools.HANG}{(out + err).strip() or '(No output)'}"
    state.transcript.user(f"<bash-input>{command}</bash-input>", state.prompt_id)
    state.transcript.user(f"<bash-stdout>{out}</bash-stdout><bash-stderr>{err}</bash-stderr>", state.prompt_id)


def wake_of(command: str, words: str) -> str:
    """The prompt of an idle session that a hook beside it woke."""
    return (
        "<task-notification>\n<summary>Stop hook feedback</summary>\n</task-notification>\n<system-reminder>\n"
        f'Stop hook blocking error from command "{command}": {words}\n</system-reminder>'
    )


def interrupt(state: State) -> None:
    """After Esc. Before the first word a typed prompt goes back onto the line; what was queued does so, too."""
    state.dialog = None
    waiting = [item.text for item in state.queue]
    state.queue.clear()
    seen = state.shown[state.said_since :]
    if len(seen) == 1 and seen[0].startswith("❯ ") and state.line.is_empty:
        waiting.insert(0, state.shown.pop().removeprefix("❯ "))
        state.transcript.take_back(state.before_turn)
    else:
        if not state.is_cut:
            state.transcript.block("[Request interrupted by user]", state.prompt_id)
        state.show(INTERRUPTED, tools.HANG)
    if waiting and state.line.is_empty:
        state.line.paste("\n".join(waiting))
