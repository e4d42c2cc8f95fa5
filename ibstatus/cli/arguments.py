"""Where a command stands and who calls it.

What a command is given to read: words, a file, standard input.
"""

import os
import sys

from ibstatus.agents.rules import start_script
from ibstatus.errors import UsageError, refused
from ibstatus.project import identity, paths


def place() -> paths.Place:
    return paths.here()


def caller(at: paths.Place) -> identity.Caller:
    return identity.caller_of(at.agent, os.environ.get("CLAUDE_CODE_SESSION_ID", ""), on_terminal(), at.proven)


def is_person() -> bool:
    """At a terminal, and not under Claude: whoever types in an agent's worktree may do there what a person may."""
    return on_terminal() and "CLAUDECODE" not in os.environ


def on_terminal() -> bool:
    return any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


MOST = 16 * start_script.LONGEST


def task(words: tuple[str, ...], file: str) -> str:
    """From the command line, a file, or standard input when that is no terminal."""
    if words and file:
        raise UsageError("The task is given twice, in words and as a file", hint="leave one of them out")
    if words:
        return " ".join(words)
    if not file and (sys.stdin is None or sys.stdin.isatty()):
        raise UsageError("An agent needs a task", hint='ib new-agent "Add dark mode to the settings page"')
    return of_file(file or "-")


def of_board(at: paths.Place, id: str, name: str, words: tuple[str, ...], file: str) -> tuple[str, str, str]:
    """(the task's id, the agent's name, what it is told). Words beside a task of the board are told behind it."""
    if not id:
        return "", name, task(words, file)
    from ibstatus.board import agent_tasks
    from ibstatus.board import caller as board_caller

    with board_caller.at(at, caller(at)) as found:
        known, told = agent_tasks.prepared(found.board, id, task(words, file) if words or file else "")
    return known.id, name or agent_tasks.name_for(at, known), told


def of_file(file: str) -> str:
    """`-` is standard input."""
    if file == "-":
        return text_of(sys.stdin.buffer.read(MOST)) if sys.stdin is not None else ""
    try:
        with open(file, "rb") as source:
            return text_of(source.read(MOST))
    except OSError as error:
        raise refused(f"read {file}", error) from error


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\n")
