"""events, trace."""

import click

from ibstatus.cli import arguments, output
from ibstatus.cli.mail import as_json, open_ids
from ibstatus.mail import history
from ibstatus.mail import trace as op
from ibstatus.mail.rules import listing
from ibstatus.system import jsonl, timestamps
from ibstatus.system.text import times


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
    for entry in op.follow(at, since) if follow else op.read(at, since):
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
    life = op.trace(arguments.place(), item)
    if json:
        output.as_json(life)
        return 0
    text = listing.shown(str(life["text"]).partition("\n")[0])
    output.data(listing.shown(life["id"]) + (f": {text}" if text else ""))
    for step in life["steps"]:
        then = times.epoch(str(step["t"]))
        when = timestamps.log(then)[:19].replace("T", " ") if then is not None else "?"
        output.data(listing.shown(f"  {when}  {step['step']:<12}  {history.told(step)}"))
    return 0
