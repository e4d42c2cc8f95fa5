"""ib config: list, get, set, unset, add, remove."""

from typing import Any

import click
from click.shell_completion import CompletionItem

from ibstatus.cli import arguments, output
from ibstatus.errors import IbError, UsageError
from ibstatus.project import ensure_supervisor, paths, settings
from ibstatus.project.rules import settings_text
from ibstatus.setup import config as ops
from ibstatus.setup import hooks
from ibstatus.system import jsonl

WIDEST = 40


class Settings(click.Group):
    """`ls` for `list`, a near name for a wrong one, and the keys in the help."""

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return super().get_command(ctx, "list" if name == "ls" else name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            error = output.unknown_command(args[0], [*self.commands])
            hint = error.hint.replace("ib ", "ib config ", 1)
            raise UsageError(f"There is no command 'config {jsonl.clean(args[0])}'", hint=hint)
        return super().resolve_command(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Keys"):
            formatter.write_dl([(key.name, about(key)) for key in settings.ALL])


def about(key: settings.Key) -> str:
    """`What it is (what it may be; its default)`."""
    allowed = {
        settings.SWITCH: "true, false",
        settings.LIST: "list",
        settings.TEXT: ", ".join(key.choices or key.examples),
    }
    kind = (
        settings.span(key).removeprefix("a whole number, ").removeprefix("a whole number ")
        if key.kind == settings.NUMBER
        else allowed[key.kind]
    )
    default = "" if key.default in (None, ()) else f"default {settings_text.bare(key.default)}"
    both = "; ".join(part for part in (kind, default) if part)
    return f"{key.about} ({both})" if both else key.about


def keys(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    lists_only = ctx.info_name in ("add", "remove")
    found = [key for key in settings.ALL if key.name.startswith(incomplete)]
    if lists_only or ctx.info_name == "set":
        found = [key for key in found if (key.kind == settings.LIST) == lists_only]
    return [CompletionItem(key.name, help=key.about) for key in found]


def choices(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What the key that stands before may be set to."""
    key = settings.KEYS.get(ctx.params.get("key") or "")
    if key is None:
        return []
    known = ("true", "false") if key.kind == settings.SWITCH else (*key.choices, *key.examples)
    return [CompletionItem(value) for value in known if value.startswith(incomplete)]


def items(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What stands in the list that is named before."""
    key = settings.KEYS.get(ctx.params.get("key") or "")
    if key is None or key.kind != settings.LIST:
        return []
    rows = ops.rows(place(False), in_user(ctx, False)).value
    held = next(row.value for row in rows if row.key is key)
    return [CompletionItem(value) for value in held if value.startswith(incomplete)]


def place(user: bool) -> paths.Place:
    """The user's settings are there outside of a repository too."""
    try:
        return arguments.place()
    except IbError:
        if not user:
            raise
        return paths.Place("/nowhere", "/nowhere/.git")


def in_user(ctx: click.Context, here: bool) -> bool:
    """--global may stand before the sub-command or behind it."""
    return here or bool(ctx.parent and ctx.parent.params.get("user"))


of_user = click.option("-g", "--global", "user", is_flag=True, help="The user's file, ~/.ittybitty.json")
as_json = click.option("--json", "json", is_flag=True, help="Print one JSON document")


@click.group(cls=Settings, short_help="Show and change settings")
@of_user
def config(user: bool) -> None:
    """Show and change the settings of the project (.ittybitty.json) and of the user (~/.ittybitty.json).

    A key in the project's file goes before the user's, and that before the default. Lists replace, they do not join.

    \b
    Examples:
      ib config list
      ib config set maxAgents 20
      ib config --global set externalDiffTool "code --diff"
      ib config add permissions.worker.allow "Bash(npm test:*)"
    """


@config.command("list", short_help="Every key, its value and where that comes from. Alias: ls")
@of_user
@as_json
@click.pass_context
def list_(ctx: click.Context, user: bool, json: bool) -> int:
    """List every key with its value and where that comes from: project, user or default."""
    answer = ops.rows(place(in_user(ctx, user)), in_user(ctx, user))
    warn(answer.notes)
    if json:
        told = [
            {"key": row.key.name, "value": settings_text.public(row.key, row.value), "source": row.source}
            for row in answer.value
        ]
        output.data(jsonl.encode(told))
    else:
        output.data(table(answer.value))
    return 0


def table(rows: list[ops.Row]) -> str:
    cells = [(row.key.name, settings_text.shown(row.key, row.value), f"({row.source})") for row in rows]
    first = max(len(key) for key, _, _ in cells)
    second = min(WIDEST, max(len(value) for _, value, _ in cells))
    return "\n".join(f"  {key:<{first}}   {value:<{second}}   {source}" for key, value, source in cells)


@config.command(short_help="The value of a key")
@click.argument("key", shell_complete=keys)
@of_user
@as_json
@click.pass_context
def get(ctx: click.Context, key: str, user: bool, json: bool) -> int:
    """Print the value that counts: bare, or as JSON. What is unset is an empty line, or null; a password is `***`."""
    answer = ops.get(place(in_user(ctx, user)), key, in_user(ctx, user))
    warn(answer.notes)
    value = settings_text.public(settings.KEYS.get(key), answer.value)
    output.data(jsonl.encode(value) if json else settings_text.bare(value))
    return 0


@config.command("set", short_help="Set a key")
@click.argument("key", shell_complete=keys)
@click.argument("value", shell_complete=choices)
@of_user
@click.pass_context
def set_(ctx: click.Context, key: str, value: str, user: bool) -> int:
    """Set a key. An empty string hides a user's value from this project; `unset` takes the key out."""
    at = place(in_user(ctx, user))
    answer = ops.set_value(at, arguments.caller(at), key, value, in_user(ctx, user))
    warn(answer.notes)
    ensure_supervisor.keep_agents_watched(at)
    output.data(f"Set {key} = {settings_text.bare(settings_text.public(settings.KEYS.get(key), answer.value))}")
    followed(at, key, in_user(ctx, user))
    return 0


@config.command(short_help="Take a key out of the file")
@click.argument("key", shell_complete=keys)
@of_user
@click.pass_context
def unset(ctx: click.Context, key: str, user: bool) -> int:
    """Take a key out of the file, so that the user's value or the default counts again."""
    at = place(in_user(ctx, user))
    gone = ops.unset(at, arguments.caller(at), key, in_user(ctx, user))
    ensure_supervisor.keep_agents_watched(at)
    output.data(f"Unset {key}" if gone else f"{key} is not set here")
    followed(at, key, in_user(ctx, user))
    return 0


@config.command(short_help="Add a value to a list")
@click.argument("key", shell_complete=keys)
@click.argument("value")
@of_user
@click.pass_context
def add(ctx: click.Context, key: str, value: str, user: bool) -> int:
    """Add a value at the end of a list."""
    at = place(in_user(ctx, user))
    answer = ops.add(at, arguments.caller(at), key, value, in_user(ctx, user))
    warn(answer.notes)
    output.data(f"Added '{value}' to {key}" if answer.value else f"Value '{value}' already exists in {key}")
    return 0


@config.command(short_help="Take a value out of a list")
@click.argument("key", shell_complete=keys)
@click.argument("value", shell_complete=items)
@of_user
@click.pass_context
def remove(ctx: click.Context, key: str, value: str, user: bool) -> int:
    """Take a value out of a list."""
    at = place(in_user(ctx, user))
    answer = ops.remove(at, arguments.caller(at), key, value, in_user(ctx, user))
    warn(answer.notes)
    output.data(f"Removed '{value}' from {key}" if answer.value else f"Value '{value}' not found in {key}")
    return 0


def followed(at: paths.Place, key: str, for_all: bool) -> None:
    """Which events run hooks depends on this one key."""
    said = hooks.follow(at, for_all) if key == hooks.KEY else ""
    if said:
        output.talk(said)


def warn(notes: list[Any]) -> None:
    for note in notes:
        output.warn(note)
