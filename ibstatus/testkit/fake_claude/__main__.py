"""`python -m ibstatus.testkit.fake_claude`, and the script `fake-claude`."""

import json
import sys

from ibstatus.errors import IbError, told
from ibstatus.testkit import fake_claude
from ibstatus.testkit.fake_claude import arguments, terminal, transcript
from ibstatus.testkit.fake_claude import state as session_start
from ibstatus.testkit.fake_claude.arguments import Options, Refused
from ibstatus.testkit.fake_claude.client import Client
from ibstatus.testkit.fake_claude.script import Script, of_environment, of_prompt
from ibstatus.testkit.fake_claude.state import State


def main(argv: list[str]) -> int:
    try:
        options = arguments.read(argv)
        return played(options) if not options.flags & {"version", "help"} else about(options)
    except Refused as refused:
        sys.stderr.write(refused.message + "\n")
    except IbError as error:
        sys.stderr.write(told(error))
    return 1


def about(options: Options) -> int:
    text = f"{transcript.VERSION} (Claude Code) fake\n" if "version" in options.flags else fake_claude.__doc__ or ""
    terminal.say(text)
    return 0


def played(options: Options) -> int:
    if "heard" in options.values:
        return heard(options.values["heard"])
    keys = None if options.is_printing else terminal.of_process()
    if keys is None and not options.prompt and "resume" not in options.values:
        options.words.append(given())
    steps = of_environment() or of_prompt(options.prompt or "")
    state = State(options, Script(steps), terminal=keys is not None)
    seconds = session_start.take_up(state) if state.source == "resume" else session_start.fresh(state)
    own = terminal.Terminal(keys) if keys is not None else None
    if own is not None:
        own.open()
    try:
        code = Client(state, own).run(seconds)
    except BaseException:
        if own is not None:
            own.close()
        raise
    farewell(state, code)
    return code


def given() -> str:
    """The prompt on stdin, as `-p` takes it."""
    text = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8", "replace")
    if not text.strip():
        raise Refused("Error: Input must be provided either through stdin or as a prompt argument when using --print")
    return text.rstrip("\n")


def farewell(state: State, code: int) -> None:
    if not state.terminal:
        json_wanted = state.options.values.get("output-format", "text") != "text"
        facts = {"type": "result", "subtype": "success", "result": state.last_words, "session_id": state.id}
        terminal.say((json.dumps(facts) if json_wanted else state.last_words) + "\n")
    elif code == 0:
        terminal.say(f"Resume this session with:\nclaude --resume {state.id}\n")


def heard(path: str) -> int:
    try:
        lines = [json.dumps(entry._asdict(), ensure_ascii=False) for entry in transcript.heard(path)]
    except OSError as error:
        raise IbError(f"Could not read {path}", cause=str(error)) from error
    terminal.say("".join(f"{line}\n" for line in lines))
    return 0


def script() -> None:
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    script()
