"""The steps of a script: what each does. An end of turn is returned, everything else goes on.

The recorded screens that are shipped: two versions of the client, a file each.
"""

import os
import signal
from collections.abc import Callable
from typing import Any

from ibstatus.testkit.fake_claude import dialogs, hooks, tool_steps, tools
from ibstatus.testkit.fake_claude import script as given
from ibstatus.testkit.fake_claude.script import DEFAULT, Step, steps
from ibstatus.testkit.fake_claude.state import State
from ibstatus.testkit.fake_claude.tool_steps import End
from ibstatus.testkit.fake_claude.waits import Course, Nap, Never, Wait

Json = dict[str, Any]
OVERLOADED = "529 Overloaded"
OVER = "wait Nothing is left in my script."


def play(state: State) -> Course[End]:
    """The steps up to an end of turn. A script that is over says so with WAITING."""
    if not state.script.left:
        state.script.left = steps([OVER] if state.script.is_given else list(DEFAULT))
    while (step := state.take()) is not None:
        end = yield from STEPS[step.verb](state, step)
        if end is not None:
            return end
    return tool_steps.closing(state, "", tool_steps.WAITING)


def say(state: State, step: Step) -> Course[End | None]:
    yield Nap(0)
    state.say(step.rest.replace("\\n", "\n"))
    return None


def work(state: State, step: Step) -> Course[End | None]:
    yield Nap(seconds_of(step.rest, 1.0))
    return None


def seconds_of(text: str, otherwise: float) -> float:
    try:
        return min(max(float(text), 0.0), 1e6)
    except ValueError:
        return otherwise


def dialog(state: State, step: Step) -> Course[End | None]:
    kind, _, rest = step.rest.partition(" ")
    if kind in ("trust", "trust-a", "bypass"):
        yield from stand_before(state, kind)
    elif kind == "question":
        yield from tool_steps.question(state, rest or "Which colour?", ["Red", "Blue"])
    else:
        yield from tool_steps.bash(state, rest or "true", "Needs permission", forced=True)
    return None


def stand_before(state: State, kind: str) -> Course[None]:
    """A dialog that ends the client unless it is answered with yes."""
    yield Nap(0)
    if not state.terminal:
        return
    has_settings = os.path.exists(f"{state.cwd}/.claude/settings.json")
    own = dialogs.trust(state.cwd, older=kind == "trust-a", has_settings=has_settings)
    own = dialogs.bypass() if kind == "bypass" else own
    state.dialog = own
    yield own
    state.dialog = None
    if own.chosen in ("", dialogs.EXIT):
        state.leaving = 1


def screen(state: State, step: Step) -> Course[End | None]:
    name, _, seconds = step.rest.partition(" ")
    state.picture = named(name)
    try:
        yield Nap(seconds_of(seconds, 2.0))
    finally:
        state.picture = None
    return None


def compact(state: State, step: Step) -> Course[End | None]:
    words = step.rest.split()
    return (yield from compacted(state, "manual" if "manual" in words else "auto", words))


def typed_compact(state: State) -> Course[None]:
    """`/compact` at the prompt line: the next step of the script, where that is a compaction."""
    left = state.script.left
    step = state.take() if left and left[0].verb == "compact" else None
    end = yield from compacted(state, "manual", step.rest.split() if step is not None else [])
    if end is not None:
        extra = {"error": end.error, "last_assistant_message": end.words}
        yield from hooks.fire(state, "StopFailure", extra, end.error)


def compacted(state: State, trigger: str, words: list[str]) -> Course[End | None]:
    """One that fails by an error of the API is the end of its turn, whose hook is the caller's."""
    verb, state.spinner = state.spinner, "Compacting conversation"
    facts: Json = {"trigger": trigger, "custom_instructions": None}
    summary = "<analysis>none</analysis>\n<summary>A stand-in has nothing to remember.</summary>"
    try:
        before = yield from hooks.fire(state, "PreCompact", facts, trigger)
        if before.blocked is not None:
            state.show(f"Compaction blocked by hook: {before.blocked}", tools.HANG)
            return None
        yield Nap(0.5)
        if "short" in words:
            state.show("Not enough messages to compact.", tools.HANG)
            return None
        if "error" in words:
            failed = f"Error during compaction: {tool_steps.OVERLOADED}"
            state.show(failed, tools.HANG)
            return End(failed, "server_error")
        after = {"trigger": trigger, "compact_summary": summary}
        yield from hooks.fire(state, "PostCompact", after, trigger)
        answer = yield from hooks.fire(state, "SessionStart", {"source": "compact", "model": state.model}, "compact")
    finally:
        state.spinner = verb
    state.transcript.entry(type="system", subtype="compact_boundary", content="Conversation compacted")
    hooks.tell(state, "SessionStart", answer)
    state.show("Compacted (ctrl+o to see full summary)", tools.HANG)
    return None


def crash(state: State, step: Step) -> Course[End | None]:
    """As a crash is: nothing is put in order."""
    yield Nap(0)
    if step.rest.isdigit():
        os._exit(int(step.rest) % 256)
    name = "SIG" + (step.rest.upper().removeprefix("SIG") or "KILL")
    number = getattr(signal, name, signal.SIGKILL)
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return None


def hang(state: State, step: Step) -> Course[End | None]:
    yield Never()
    return None


def orders(state: State, step: Step) -> Course[End | None]:
    """One order after the other; what is left of the file stands behind each."""
    yield Nap(0)
    state.script.left[:0] = [given.next_of(step.rest), step]
    return None


def hold(state: State, step: Step) -> Course[End | None]:
    path, _, trouble = step.rest.partition("\n")
    yield from troubled(state, trouble, given.More(path))
    return None


def retry(state: State, step: Step) -> Course[End | None]:
    """The API fails, and the client tries again without telling any hook."""
    seconds, _, trouble = step.rest.partition(" ")
    yield from troubled(state, trouble or OVERLOADED, Nap(seconds_of(seconds, 2.0)))
    return None


def troubled(state: State, trouble: str, wait: Wait) -> Course[None]:
    state.trouble = trouble
    try:
        yield wait
    finally:
        state.trouble = ""


STEPS: dict[str, Callable[[State, Step], Course[End | None]]] = {
    "say": say,
    "work": work,
    "run": tool_steps.run,
    "write": tool_steps.write,
    "commit": tool_steps.commit,
    "ask": tool_steps.ask,
    "plan": tool_steps.plan,
    "wait": tool_steps.wait,
    "finish": tool_steps.finish,
    "end": tool_steps.end,
    "error": tool_steps.error,
    "limit": tool_steps.limit,
    "dialog": dialog,
    "screen": screen,
    "compact": compact,
    "crash": crash,
    "hang": hang,
    "orders": orders,
    "hold": hold,
    "retry": retry,
}


FOLDER = f"{os.path.dirname(__file__)}/pictures"


def named(name: str) -> str:
    """`69`, `2.1.197/05` or `trust`: the newest version's first file that has it in its name; else a note."""
    version, slash, part = name.rpartition("/")
    for folder in [version] if slash else sorted(os.listdir(FOLDER), reverse=True):
        if folder not in os.listdir(FOLDER):
            break
        for file in sorted(os.listdir(f"{FOLDER}/{folder}")):
            if part in file:
                with open(f"{FOLDER}/{folder}/{file}", encoding="utf-8") as opened:
                    return opened.read()
    return f"fake-claude: no screen was recorded with {name} in its name\n"
