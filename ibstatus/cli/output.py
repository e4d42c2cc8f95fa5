"""What a command prints: data on stdout, talk on stderr, errors and crash reports in one form."""

import difflib
import os
import platform
import sys
import tempfile
import time
import traceback
from typing import Any

import click
import msgspec

import ibstatus
from ibstatus.errors import IbError, UsageError, told, visible
from ibstatus.project import paths
from ibstatus.system import jsonl


def prepare() -> None:
    """UTF-8 whatever the locale says: the text is JSON and names, and none of it may be lost."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")


def data(text: str, colour: bool | None = None) -> None:
    """A line for stdout. Colour is for terminals, unless it is asked for or NO_COLOR is set."""
    colour = False if colour is None and os.environ.get("NO_COLOR") else colour
    try:
        click.echo(text, color=colour)
    except BrokenPipeError:
        raise
    except OSError as error:  # what was done stands, whether or not it can be told
        talk(f"Warning: the result could not be printed ({error.strerror}).")


def as_json(value: Any) -> None:
    """One JSON document for stdout."""
    try:
        click.echo(msgspec.json.encode(value).decode())
    except UnicodeEncodeError:  # half an emoji out of somebody's file: named, as JSON can
        click.echo(jsonl.encode(msgspec.to_builtins(value)))


def talk(text: str) -> None:
    """A line for the person, on stderr. Nobody may be left to read it: what is being done goes on."""
    try:
        click.echo(text, err=True)
    except OSError:
        pass


def remark(text: str) -> None:
    talk(f"{visible(text)}.")


def warn(text: str) -> None:
    if text:
        talk(f"Warning: {text}.")


def hush() -> None:
    """Nobody reads any more: nothing is written from now on, the flush at exit included."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def fail(error: IbError) -> int:
    try:
        click.echo(told(error), err=True, nl=False)
    except OSError:  # nobody reads stderr: the exit code still tells
        pass
    return error.code


def usage(error: click.UsageError) -> UsageError:
    """click's complaint in the house's form."""
    command = error.ctx.command_path if error.ctx is not None else "ib"
    hint = f"{command} --help"
    if isinstance(error, click.NoSuchOption):
        near = difflib.get_close_matches(error.option_name, error.possibilities or [], 1)
        dash = (
            f"{command} --help" if command == "ib" else f"put -- before text that starts with a dash; {command} --help"
        )
        hint = f"{command} {near[0]}" if near else dash
    sentence = " ".join(error.format_message().partition(" Did you mean ")[0].split())
    return UsageError(sentence.rstrip("."), hint=hint)


def unknown_command(name: str, known: list[str], group: str = "ib") -> UsageError:
    near = difflib.get_close_matches(name, known, 1, cutoff=0.7)
    return UsageError(f"There is no command '{name}'", hint=f"{group} {near[0] if near else '--help'}")


def crashed(argv: list[str]) -> int:
    """A bug of ours: exit 3, with a report that can be pasted into an issue."""
    report = "\n".join(
        (
            f"## ib {ibstatus.__version__} crashed",
            "",
            f"- command: `{' '.join(['ib', *argv])}`",
            f"- python: {platform.python_version()} on {platform.platform()}",
            "",
            "```",
            traceback.format_exc().rstrip(),
            "```",
            "",
        )
    )
    folder = tempfile.gettempdir()
    try:
        home = paths.here().home
        folder = home if os.path.isdir(home) else folder
    except Exception:
        pass
    path = f"{folder}/crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.md"
    try:
        with open(path, "x", encoding="utf-8", errors="replace") as file:
            file.write(report)
        hint = f"the report is in {path}"
    except OSError:
        sys.stderr.write(report)
        hint = "the report stands above"
    line = traceback.format_exc().strip().splitlines()[-1]
    fail(IbError("This is a bug in ib, not in what you typed", cause=line, hint=hint))
    return 3
