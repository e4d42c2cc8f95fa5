"""listen."""

import math
import sys
from signal import SIGTERM, signal
from types import FrameType

import click

from ibstatus.cli import arguments, output
from ibstatus.errors import UsageError
from ibstatus.mail import listen as op
from ibstatus.mail.waiter import remove_pid_file
from ibstatus.model import constants
from ibstatus.project import ensure_supervisor
from ibstatus.system import disk

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
