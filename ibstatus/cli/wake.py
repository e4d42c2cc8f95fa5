"""wake check."""

import click

from ibstatus.cli import arguments, output
from ibstatus.cli.mail import as_json
from ibstatus.mail import wake_check as op
from ibstatus.mail.rules import listing
from ibstatus.state.rules.status_text import RUNGS


@click.group(short_help="How news wakes the user's Claude")
def wake() -> None:
    """How news wakes the user's Claude."""


@wake.command(short_help="Send a test notice and see what carries it")
@click.option("--timeout", metavar="SECONDS", type=click.FloatRange(min=0), default=None, help="How long to wait [20]")
@as_json
def check(timeout: float | None, json: bool) -> int:
    """Send a test notice to the user's Claude, and say which rung carried it, and how fast. Run it in a terminal of
    your own, while Claude is idle: it costs one short turn.

    \b
    Example:
      ib wake check
    """
    at = arguments.place()
    woken = op.check(at, arguments.caller(at), timeout)
    if json:
        output.as_json(woken)
        return 0 if woken.told is not None else 1
    armed = ", ".join(RUNGS[rung] for rung in woken.armed) or "nothing"
    output.data(f"session {listing.shown(woken.session)}; would be woken by: {armed}")
    if woken.told is None:
        output.talk(f"Not told yet: {why(woken.inside, woken.armed)}")
        return 1
    if woken.rung is not None:
        output.data(f"rung after {woken.rung:.2f} s by {RUNGS[woken.by]}")
    output.data(f"told after {woken.told:.2f} s" + ("" if woken.rung is not None else f" with {RUNGS[op.NEXT]}"))
    return 0


def why(inside: bool, armed: list[str]) -> str:
    if inside:
        return "this session is at work with this very command. It hears with its next tool call; else run it outside."
    if armed:
        return "is a dialog open, or the session gone? It is told with the next prompt. Hint: ib hooks status"
    return "nothing wakes this session. It is told with the next prompt. Hint: ib hooks status"
