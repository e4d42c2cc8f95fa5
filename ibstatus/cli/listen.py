"""listen.

events, trace.

wake check.
"""

import math
import sys
from signal import SIGTERM, signal
from types import FrameType

import click

from ibstatus.cli import arguments, output
from ibstatus.cli.mail import as_json, open_ids
from ibstatus.errors import UsageError
from ibstatus.mail import listen as op
from ibstatus.mail import trace as mail_trace
from ibstatus.mail import wake_check
from ibstatus.mail.listen import remove_pid_file
from ibstatus.mail.rules import listing
from ibstatus.model import constants
from ibstatus.project import ensure_supervisor
from ibstatus.state.rules.status_text import RUNGS
from ibstatus.system import disk, jsonl, timestamps
from ibstatus.system.text import times

USUAL = 570.0


@click.command(short_help="Wait for notices, print them, exit")
@click.option(
    "--timeout", metavar="SECONDS", default=None, help="How long to wait [570; with --follow: for ever]; 0 looks once"
)
@click.option("--follow", is_flag=True, help="Go on after the first notices")
@click.option("--json", "json", is_flag=True, help="JSON lines only: what is not a notice goes to stderr")
def listen(timeout: str | None, follow: bool, json: bool) -> int:
    """Wait until there is something to say, print it as JSON lines, and exit 0. A time-out is no failure.

    Claude runs it in the background: its exit is the wake. Each notice is printed once; what may not have been seen
    because a listener was killed comes again, marked "again": true. SIGTERM ends it with exit 0 as well.

    \b
    Examples:
      ib listen
      ib listen --timeout 0
      ib listen --follow | jq -r .msg
    """
    at = arguments.place()
    seconds = USUAL if timeout is None else parsed(timeout)
    ensure_supervisor.keep_agents_watched(at)
    signal(SIGTERM, exit_quietly)
    limit = None if follow and timeout is None else seconds
    try:
        outcome = op.listen(
            at, arguments.caller(at), limit, follow, lambda data: disk.write_all(1, data), output.warn, 1
        )
    finally:
        remove_pid_file(at)  # a signal may have come right after it was written
    say = output.talk if json else output.data
    if outcome.how == op.Ended.TIMEOUT and not outcome.told:
        say(constants.TIMED_OUT)
    elif outcome.how == op.Ended.BUSY:
        who = f" (PID {outcome.holder})" if outcome.holder else ""
        say(f"Listener already running{who}. It will tell; do not start another.")
    elif outcome.how == op.Ended.LEFT:
        output.talk("Nobody is left to read what this listener would print.")
    elif outcome.how == op.Ended.VOICE:
        waiting = "1 message is" if outcome.told == 1 else f"{outcome.told} messages are"
        say(f"{waiting} waiting; your hooks tell with this turn.")
    return 0


def exit_quietly(number: int, frame: FrameType | None) -> None:
    """Handle SIGTERM: what the listener holds is released on the way out, and the exit code is 0."""
    sys.exit(0)


def parsed(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not math.isfinite(seconds) or seconds < 0:
        raise UsageError(f"'{text}' is no number of seconds", hint="ib listen --timeout 60")
    return seconds


@click.command(short_help="Show what happened")
@click.option("--follow", "-f", is_flag=True, help="Go on with new events as they come")
@click.option("--since", metavar="N", type=click.IntRange(min=0), default=0, help="Only events after this number")
@click.option("--json", "json", is_flag=True, help="Print JSON lines")
def events(follow: bool, since: int, json: bool) -> int:
    """Show the history: messages queued, offered and acknowledged, listeners, agents.

    \b
    Examples:
      ib events
      ib events --follow --json --since 120
    """
    at = arguments.place()
    for entry in mail_trace.follow(at, since) if follow else mail_trace.read(at, since):
        output.data(jsonl.encode(entry) if json else listing.event(entry))
    return 0


@click.command(short_help="Show what became of one message")
@click.argument("item", metavar="ID", shell_complete=open_ids)
@as_json
def trace(item: str, json: bool) -> int:
    """Show the life of one message or question: queued, rung, offered (to which session), confirmed, acknowledged.

    \b
    Example:
      ib trace msg-1736610600-manager-abc
    """
    life = mail_trace.trace(arguments.place(), item)
    if json:
        output.as_json(life)
        return 0
    text = listing.shown(str(life["text"]).partition("\n")[0])
    output.data(listing.shown(life["id"]) + (f": {text}" if text else ""))
    for step in life["steps"]:
        then = times.epoch(str(step["t"]))
        when = timestamps.log(then)[:19].replace("T", " ") if then is not None else "?"
        output.data(listing.shown(f"  {when}  {step['step']:<12}  {mail_trace.told(step)}"))
    return 0


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
    woken = wake_check.check(at, arguments.caller(at), timeout)
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
    output.data(
        f"told after {woken.told:.2f} s" + ("" if woken.rung is not None else f" with {RUNGS[wake_check.NEXT]}")
    )
    return 0


def why(inside: bool, armed: list[str]) -> str:
    if inside:
        return "this session is at work with this very command. It hears with its next tool call; else run it outside."
    if armed:
        return "is a dialog open, or the session gone? It is told with the next prompt. Hint: ib hooks status"
    return "nothing wakes this session. It is told with the next prompt. Hint: ib hooks status"
