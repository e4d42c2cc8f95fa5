"""A group whose commands' modules are imported when a command runs, not before; its help stands under headings.

An empty word is no name: where a script has not set a variable, `--after "$T"` must not pass for nothing said.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

import click
from click.core import ParameterSource

from ibstatus.cli import output
from ibstatus.errors import UsageError


class Lazy(click.Group):
    """`table`: name → ("module:command", heading in the help). Those whose names begin with `folded` share
    one line of it, which says what they are for."""

    table: ClassVar[Mapping[str, tuple[str, str]]]
    aliases: ClassVar[Mapping[str, str]]
    headings: ClassVar[tuple[str, ...]]
    words: ClassVar[str]
    folded: ClassVar[tuple[str, str]] = ("", "")

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        entry = self.table.get(self.aliases.get(name, name))
        if entry is None:
            return None
        module, _, variable = entry[0].partition(":")
        command: click.Command = getattr(import_module(module), variable)
        return only(command)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise output.unknown_command(args[0], [*self.table, *self.aliases], self.words)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        begin, meaning = self.folded
        for heading in self.headings:
            rows, alike = [], []
            for name, (_, section) in self.table.items():
                command = self.get_command(ctx, name)
                if section != heading or command is None or command.hidden:
                    continue
                if begin and name.startswith(begin):
                    alike.append(name.removeprefix(begin))
                else:
                    rows.append((name, command.get_short_help_str(limit=100)))
            if alike:
                rows.append((f"{begin}…", f"{meaning}: {', '.join(alike)}"))
            with formatter.section(heading):
                formatter.write_dl(rows)


FREE = (None, "TEXT", "VERSION")  # may be empty, or say themselves that they must not be
SPEAKER = "claimed"  # hooks call what has it, with whatever they have


def only(command: click.Command) -> click.Command:
    """The same command; what names something is refused when it is empty."""
    for param in command.params:
        if names_something(param) and not isinstance(param.callback, Filled):
            param.callback = Filled(param.callback)
    return command


def names_something(param: click.Parameter) -> bool:
    """Of the arguments just those that may be left out: the others say themselves that there is no such thing."""
    if isinstance(param, click.Option):
        return param.type is click.STRING and param.metavar not in FREE and param.name != SPEAKER
    return param.type is click.STRING and not param.required and param.nargs == 1


class Filled:
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __call__(self, ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        given = value if isinstance(value, tuple) else (value,)
        said = ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
        if said and not ctx.resilient_parsing and any(isinstance(one, str) and not one.strip() for one in given):
            name = param.opts[0] if isinstance(param, click.Option) else param.make_metavar(ctx).strip("[].")
            raise UsageError(f"{name} is empty", hint="name one, or leave it out; a variable that is not set?")
        return self.inner(ctx, param, value) if self.inner else value
