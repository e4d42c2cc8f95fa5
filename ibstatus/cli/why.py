"""why: the evidence behind an agent's state."""

import time

import click

from ibstatus.cli import calling, output
from ibstatus.cli.say import agent_ids, as_json


@click.command(short_help="Show the evidence behind an agent's state")
@click.argument("agent", shell_complete=agent_ids)
@as_json
def why(agent: str, json: bool) -> int:
    """Show every piece of evidence on an agent's state: its age, its source, which won, why the others lost.

    \b
    Examples:
      ib why login
      ib why login --json | jq '.evidence[] | select(.won)'
    """
    from ibstatus.cli.fleet import width
    from ibstatus.ops import why as op
    from ibstatus.rules import why_text
    from ibstatus.store import agents

    at = calling.place()
    found = op.why(at, agents.resolve(at, agent))
    if json:
        output.as_json(found)
    else:
        output.data(why_text.text(found, time.time(), width()))
    return 0
