"""demo."""

import signal
from contextlib import closing

import click

from ibstatus.cli import output
from ibstatus.testkit import demo as op
from ibstatus.testkit.demo_stage import Line

DIM = "bright_black"


@click.command(short_help="Show the main job in a throw-away repository")
@click.option("--color/--no-color", "colour", default=None, help="Colour, also when this is no terminal")
def demo(colour: bool | None) -> int:
    """Run the main job in a throw-away repository, with the real commands, and show it. Nothing of yours is touched."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)  # so that the throw-away folder goes in any case
    with closing(op.show()) as show:
        for line in show:
            output.data(shown(line), colour)
    return 0


def shown(line: Line) -> str:
    if line.kind == "say":
        return "\n" + click.style(f"# {line.text}", fg=DIM)
    if line.kind == "run":
        who = click.style(f"{line.who:>9}", fg="cyan")
        return f"{who} $ " + click.style(line.text, bold=True)
    return " " * 12 + line.text
