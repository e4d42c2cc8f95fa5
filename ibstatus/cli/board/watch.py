"""ib board watch, up, migrate."""

import select

import click
import msgspec

from ibstatus.board import interrupt, opening
from ibstatus.board import watch as stream
from ibstatus.board.reconnect import Steady
from ibstatus.board.rules import validation as rule
from ibstatus.cli import arguments, output
from ibstatus.cli.board.group import between, project_option
from ibstatus.cli.mail import as_json
from ibstatus.model.board import Event
from ibstatus.system import disk


@click.command(short_help="Print what happens on the board, one JSON object a line")
@project_option
@click.option("--channels", metavar="A,B", default="", help="Only these; the seven of old otherwise")
@click.option(
    "--since",
    metavar="SEQ",
    type=int,
    callback=between(0, (1 << 63) - 1),
    default=None,
    help="From behind this one; 0: from the beginning",
)
def watch(project: str | None, channels: str, since: int | None) -> int:
    """Print events as they happen, until Ctrl-C or until nobody reads. Whoever has seen `seq` N goes on with --since N:
    nothing is lost, nothing comes twice. A board that is gone is waited for.

    \b
    Channels: task_ready task_done task_failed merge_ready merge_merged merge_conflict merge_failed;
    on request: task_claimed task_retry task_pending_approval task_rejected.

    \b
    Examples:
      ib board watch
      ib board watch -p backend --channels task_ready,task_claimed --since 0
    """
    wanted = stream.Wanted(since, rule.checked_channels(channels), project)
    at = arguments.place()
    try:
        with interrupt.heard() as end, Steady(opening.again(at), output.remark, reader=1) as steady:
            stream.follow(steady, wanted, lambda event: tell(event, end), begun)
    except interrupt.Ended:
        return 0
    return 0


def begun(seq: int) -> None:
    output.talk(f"Watching what comes after {seq}.")


def tell(event: Event, end: interrupt.Ending) -> None:
    """A whole line, and no buffer of Python's in between: what was written was handed over. A reader that is slow is
    waited for before it is begun."""
    line = msgspec.json.encode(event) + b"\n"
    select.select([], [1], [])
    with end.held():
        disk.write_all(1, line)


@click.command(short_help="Make the board, or bring it up to date")
@as_json
def up(json: bool) -> int:
    """Make the board where it is configured: the file of this repository, or the PostgreSQL of board.dsn. What is there
    already is brought up to date.

    \b
    Examples:
      ib board up
      IB_BOARD_DSN=postgresql:///tasks ib board up
    """
    return brought_up(json)


@click.command(short_help="Bring the board up to date")
@as_json
def migrate(json: bool) -> int:
    """Apply the numbered changes to the board's tables that are still missing.

    \b
    Example:
      ib board migrate
    """
    return brought_up(json)


def brought_up(json: bool) -> int:
    applied = opening.up(arguments.place())
    if json:
        output.as_json({"applied": applied})
        return 0
    for name in applied:
        output.data(f"Applied: {name}")
    if not applied:
        output.data("The board is up to date.")
    return 0
