"""parse-state: what a screen says of a session's state."""

import click

from ibstatus.cli import output
from ibstatus.testkit.fixtures import screens


@click.command("parse-state", short_help="The state that a screen shows")
@click.argument("file", default="-", metavar="[FILE|-]")
@click.option("-v", "--verbose", is_flag=True, help="Say which rules were tried, and what the one that fits has found")
@click.option("--client", default="", metavar="VERSION", help="Only rules for this version of the client")
@click.option("--json", "as_json", is_flag=True, help="Print all that is known as JSON")
def parse_state(file: str, verbose: bool, client: str, as_json: bool) -> int:
    """Print the state that a captured screen shows: `tmux capture-pane -p -t PANE | ib parse-state`. With -v its
    reason, what it asks and the rules follow on stderr. Your own rules go into ~/.ittybitty/screens.toml; the head of
    the file that -v names first tells their form."""
    found, steps = screens.state(file, client)
    if as_json:
        output.as_json(found._asdict())
    else:
        output.data(found.state)
    if verbose:
        for line in (*steps, *screens.told(found)):
            output.talk(line)
    return 0
