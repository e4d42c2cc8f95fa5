"""What the model does with tools: each a call with its hooks, its permission and its place on the screen.

How a turn ends: with words, with an error of the API, at a limit.
"""

import os
from typing import Any, NamedTuple

from ibstatus.errors import quoted
from ibstatus.testkit.fake_claude import dialogs, hook_payloads, hooks, tools
from ibstatus.testkit.fake_claude.script import Step
from ibstatus.testkit.fake_claude.state import State
from ibstatus.testkit.fake_claude.tools import HANG, Call, Done
from ibstatus.testkit.fake_claude.waits import Child, Course, Nap

WAITING, COMPLETED = "WAITING", "I HAVE COMPLETED THE GOAL"
RESEND, FIXED = "Resend your message to try again", "Once fixed, resend your message"
OVERLOADED = "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment."
ERRORS = {
    "rate_limit": ("● ", "API Error: Request rejected (429) · Usage limit", RESEND),
    "server_error": ("● ", OVERLOADED, RESEND),
    "authentication_failed": (HANG, "Invalid API key · Fix external API key", FIXED),
    "billing_error": (HANG, "Please run /login · API Error: 403", FIXED),
    "invalid_request": (HANG, "Prompt is too long · /clear to start fresh", FIXED),
}


class End(NamedTuple):
    """How the turn ended: with words, or with an error of the API."""

    words: str = ""
    error: str = ""


def closing(state: State, text: str, phrase: str) -> End:
    words = "\n\n".join(part for part in (text, phrase) if part) or "Done."
    state.say(words)
    return End(words)


def failing(state: State, word: str) -> End:
    mark, text, state.placeholder = ERRORS.get(word, ("● ", f"API Error: {word}", RESEND))
    state.show(text, mark)
    return End(text, word)


def limit(state: State, step: Step) -> Course[End | None]:
    """rate: refused; usage: the older client's menu; wait: the newer one's promise to go on by itself."""
    yield Nap(0)
    kind, _, until = step.rest.partition(" ")
    resets = until or "8:28am"
    if kind not in ("usage", "wait"):
        return failing(state, "rate_limit")
    hit = f"You've hit your 5-hour limit · resets {resets} (UTC)"
    state.show(hit, HANG)
    if kind == "wait":
        state.show(f"Usage limit reached · continuing automatically at {resets} · esc to cancel", "● ")
        reached = f"⚠ Usage limit reached · limit resets {resets}"
        state.warning = [reached, f"    Continuing automatically at {resets} · Esc to cancel"]
    else:
        state.after_turn = dialogs.limit()
    return End(hit, "rate_limit")


def wait(state: State, step: Step) -> Course[End | None]:
    yield Nap(0)
    return closing(state, step.rest, WAITING)


def finish(state: State, step: Step) -> Course[End | None]:
    yield Nap(0)
    return closing(state, step.rest, COMPLETED)


def end(state: State, step: Step) -> Course[End | None]:
    yield Nap(0)
    return closing(state, step.rest, "")


def error(state: State, step: Step) -> Course[End | None]:
    yield Nap(0)
    return failing(state, step.rest or "server_error")


Json = dict[str, Any]
TOOL_TIME = 600.0


def run(state: State, step: Step) -> Course[End | None]:
    yield from bash(state, step.rest, "Run a command")
    return None


def bash(state: State, command: str, description: str, *, forced: bool = False) -> Course[bool]:
    def deed(given: Json) -> Course[Done]:
        child = Child(str(given.get("command", "")), b"", hooks.environment(state), state.cwd, TOOL_TIME)
        try:
            yield child
        finally:
            child.kill()
        return finished(child)

    given = {"command": command, "description": description}
    call = Call("Bash", given, deed, dialogs.bash(command, description))
    call.forced = forced
    call.line = f"$ {command}"
    return (yield from tools.use(state, call, f"● {description}\n{tools.HANG}$ {command}"))


def finished(child: Child) -> Done:
    out, err = (text.rstrip("\n") for text in child.printed())
    if child.code:
        both = "\n".join(text for text in (out, err) if text)
        return Done(
            f"Error: Exit code {child.code}",
            f"Exit code {child.code}\n{both}".rstrip(),
            "  Ran 1 shell command · 1 failed",
            failed=True,
        )
    both = "\n".join(text for text in (out, err) if text)
    return Done(hook_payloads.bash_response(out, err), both, "  Ran 1 shell command")


def write(state: State, step: Step) -> Course[End | None]:
    name, _, text = step.rest.partition(" ")
    path = os.path.join(state.cwd, name)
    content = text.replace("\\n", "\n") + "\n"

    def deed(given: Json) -> Course[Done]:
        yield Nap(0)
        return written(str(given.get("file_path", path)), str(given.get("content", content)))

    call = Call("Write", {"file_path": path, "content": content}, deed, dialogs.write(path, content))
    yield from tools.use(state, call, f"● Write({name})")
    return None


def written(path: str, text: str) -> Done:
    try:
        before = read(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except (OSError, UnicodeError) as error:
        return Done(f"Error: {error}", str(error), f"● Write({path})\n{tools.HANG}Error writing file", failed=True)
    name = os.path.basename(path)
    seen = f"● Write({name})\n{tools.HANG}Wrote {len(text.splitlines())} lines to {name}"
    verb = "created" if before is None else "updated"
    return Done(hook_payloads.write_response(path, text, before), f"File {verb} successfully at: {path}", seen)


def read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return None


def commit(state: State, step: Step) -> Course[End | None]:

    message = quoted(step.rest or "work")
    yield from bash(state, f"git add -A && git commit -q -m {message}", "Commit the work")
    return None


def ask(state: State, step: Step) -> Course[End | None]:
    text, *answers = [part.strip() for part in step.rest.split("|")]
    yield from question(state, text or "May I?", [answer for answer in answers if answer] or ["Yes", "No"])
    return None


def question(state: State, text: str, answers: list[str]) -> Course[bool]:
    def deed(given: Json) -> Course[Done]:
        yield Nap(0)
        chosen = given.get("answers") or {}
        pairs = ", ".join(f'"{key}"="{value}"' for key, value in chosen.items())
        told = f"Your questions have been answered: {pairs}. You can now continue with these answers in mind."
        seen = "\n".join(
            ["● Answered Claude's questions:", *(f"{tools.HANG}· {key} → {value}" for key, value in chosen.items())]
        )
        return Done(given, told, seen)

    options = [{"label": answer, "description": ""} for answer in answers]
    given = {"questions": [{"question": text, "header": "Question", "options": options, "multiSelect": False}]}
    call = Call("AskUserQuestion", given, deed, dialogs.question("Question", text, answers))
    call.needs_terminal = True
    return (yield from tools.use(state, call, "● Question"))


def plan(state: State, step: Step) -> Course[End | None]:
    given = {"plan": step.rest} if step.rest else {}

    def deed(given: Json) -> Course[Done]:
        yield Nap(0)
        return Done(given, "User has approved exiting plan mode. You can now proceed.", "● User approved Claude's plan")

    call = Call("ExitPlanMode", given, deed, dialogs.plan(step.rest))
    call.needs_terminal = True
    yield from tools.use(state, call, "● Plan")
    return None
