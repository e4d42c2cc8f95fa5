"""A group whose commands' modules are imported when a command runs, not before; its help stands under headings."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

import click

from ibstatus.cli import filled, output


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
        return filled.only(command)

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
