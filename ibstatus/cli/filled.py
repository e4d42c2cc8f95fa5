"""An empty word is no name: where a script has not set a variable, `--after "$T"` must not pass for nothing said."""

from typing import Any

import click
from click.core import ParameterSource

from ibstatus.errors import UsageError

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
