"""What the model does with tools: each a call with its hooks, its permission and its place on the screen."""

import os
from typing import Any

from ibstatus.errors import quoted
from ibstatus.testkit.fake_claude import dialogs, hook_payloads, hooks, tools
from ibstatus.testkit.fake_claude.script import Step
from ibstatus.testkit.fake_claude.state import State
from ibstatus.testkit.fake_claude.tools import Call, Done
from ibstatus.testkit.fake_claude.turn_end import End
from ibstatus.testkit.fake_claude.waits import Child, Course, Nap

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
