"""why: the evidence behind an agent's state."""

import time

import click

from ibstatus.cli import arguments, output
from ibstatus.cli.mail import agent_ids, as_json


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
    from ibstatus.cli.state import width
    from ibstatus.project import agents
    from ibstatus.state import why as op
    from ibstatus.state.rules import why_text

    at = arguments.place()
    found = op.why(at, agents.resolve(at, agent))
    if json:
        output.as_json(found)
    else:
        output.data(why_text.text(found, time.time(), width()))
    return 0
