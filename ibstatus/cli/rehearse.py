"""demo.

sim: a fleet of stand-ins under a compressed clock, and every promise kept or broken.
"""

import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing

import click

from ibstatus.cli import output
from ibstatus.cli.mail import as_json
from ibstatus.testkit import demo as op
from ibstatus.testkit.demo import Line
from ibstatus.testkit.simulation.promises import Report

DIM = "bright_black"


@click.command(short_help="Show the main job in a throw-away repository")
@click.option("--color/--no-color", "colour", default=None, help="Colour, also when this is no terminal")
def demo(colour: bool | None) -> int:
    """Run the main job in a throw-away repository, with the real commands, and show it. Nothing of yours is touched."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)  # so that the throw-away folder goes in any case
    with closing(op.show()) as show:
        for line in show:
            output.data(style_line(line), colour)
    return 0


def style_line(line: Line) -> str:
    if line.kind == "say":
        return "\n" + click.style(f"# {line.text}", fg=DIM)
    if line.kind == "run":
        who = click.style(f"{line.who:>9}", fg="cyan")
        return f"{who} $ " + click.style(line.text, bold=True)
    return " " * 12 + line.text


MOST, MOST_SHOWN = 300, 10


@click.command(short_help="Rehearse hours of a fleet, and report every promise")
@click.option("--agents", type=click.IntRange(1, MOST), default=10, show_default=True, help="How many agents")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed, the same course of events")
@click.option(
    "--hours", type=click.FloatRange(0.1, 1000.0), default=2.0, show_default=True, help="How many simulated hours"
)
@click.option("--keep", is_flag=True, help="Leave its files for a look, and say where")
@as_json
def sim(agents: int, seed: int, hours: float, keep: bool, json: bool) -> int:
    """Rehearse hours of a fleet in minutes, and report which promises ib kept. Exits 1 when one is broken.

    Everything is real but the model and the clock: agents in tmux and git worktrees, hooks, the supervisor. They work,
    ask, get mail, run into dialogs and limits, are interrupted, crash and come again. Nothing of yours is touched.

    \b
    Examples:
      ib sim --agents 4 --hours 1
      ib sim --agents 50 --seed 7 --hours 24
    """
    from ibstatus.testkit.simulation import run as op

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)  # so that nothing is left in any case
    report = op.rehearse(agents, hours, seed, said(time.monotonic()), keep=keep)
    if json:
        output.as_json(report)
    else:
        print_report(report)
    return 0 if report.holds else 1


def said(began: float) -> Callable[[str], None]:
    """Progress, on one line where somebody watches."""

    def say(text: str) -> None:
        line = f"[{time.monotonic() - began:4.0f} s] {text}"
        if sys.stderr.isatty():
            click.echo(f"\r{line}\033[K", err=True, nl=False)
        else:
            output.talk(line)

    return say


def print_report(report: Report) -> None:
    if sys.stderr.isatty():
        click.echo(err=True)
    acts = ", ".join(f"{name} {count}" for name, count in report.acts.items() if not name.endswith(" ends"))
    output.data(
        f"{report.agents} agents, {report.hours:g} hour{'' if report.hours == 1 else 's'}, seed {report.seed}: {acts}"
    )
    for one in report.promises:
        word = "broken" if one.broken else "kept" if one.judged else "not judged"
        times = "once" if one.judged == 1 else f"{one.judged} times"
        output.data(f"{word:>10}  {one.text} ({times} put to the test)")
        for text in one.broken[:MOST_SHOWN]:
            output.data(f"{'':12}{text}")
        if len(one.broken) > MOST_SHOWN:
            output.data(f"{'':12}… and {len(one.broken) - MOST_SHOWN} more (--json shows all)")
    if report.kept_in:
        output.talk(f"Its files are left in {report.kept_in}")
