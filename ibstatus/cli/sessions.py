"""look, attach, wait, info."""

import sys

import click

from ibstatus.agents import look as looking
from ibstatus.cli import arguments, output
from ibstatus.cli.mail import agent_ids, as_json
from ibstatus.errors import UsageError
from ibstatus.project import agents, paths
from ibstatus.state import wait as waiting
from ibstatus.state import why as informing
from ibstatus.system.text import terminal

agent_argument = click.argument("agent", metavar="ID", shell_complete=agent_ids)


@click.command(short_help="Show what an agent shows, or has said")
@agent_argument
@click.option("--lines", type=click.IntRange(1), metavar="N", default=None, help="So many lines from the end (50)")
@click.option("--all", "everything", is_flag=True, help="Everything from the beginning")
@click.option("--follow", "-f", is_flag=True, help="Go on with what it says, until it ends or Ctrl-C")
@click.option("--screen", "source", flag_value=looking.SCREEN, help="Only its screen")
@click.option("--transcript", "source", flag_value=looking.TRANSCRIPT, help="Only its transcript")
@as_json
def look(agent: str, lines: int | None, everything: bool, follow: bool, source: str | None, json: bool) -> int:
    """Show an agent: its screen while it runs; for more than a screenful, and of one that has ended, its transcript;
    of one that is gone, its archive. Nothing is typed, and nothing of it is disturbed.

    \b
    Examples:
      ib look worker-a
      ib look worker-a --all | less
      ib look worker-a --follow
    """
    at = arguments.place()
    if follow:
        return followed(at, agent, lines, everything, source, json)
    found = looking.look(at, agent, lines, everything, source or "")
    if json:
        output.as_json({key: value for key, value in found._asdict().items() if value or key == "text"})
        return 0
    if found.note:
        output.talk(found.note)
    output.data(found.text)
    return 0


def followed(at: paths.Place, given: str, lines: int | None, everything: bool, source: str | None, json: bool) -> int:
    if source == looking.SCREEN:
        raise UsageError("--follow shows the transcript as it grows", hint=f"ib attach {given} --read-only")
    agent = agents.resolve(at, given)
    for text in looking.follow(at, agent, None if everything else lines or looking.DEFAULT):
        if json:
            output.as_json({"id": agent, "text": text})
        else:
            output.data(text + "\n")
        sys.stdout.flush()
    output.talk(f"{agent} has ended.")
    return 0


@click.command(short_help="Take an agent's terminal into yours")
@agent_argument
@click.option("--read-only", "-r", is_flag=True, help="Only look: no key reaches it, and its size stays")
def attach(agent: str, read_only: bool) -> int:
    """Attach this terminal to an agent's. What you type there is yours to type; leave with Ctrl-b d.

    \b
    Examples:
      ib attach worker-a
      ib attach worker-a --read-only
    """
    at = arguments.place()
    on_terminal = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
    where = looking.check(at, agents.resolve(at, agent), on_terminal)
    output.talk(looking.leaving())
    looking.become(looking.argv(where, read_only))
    return 0


@click.command(short_help="Wait until agents are done or need somebody")
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=agent_ids)
@click.option(
    "--state", "states", metavar="STATES", default="", help="complete,waiting,stopped unless others are named"
)
@click.option("--any", "some", is_flag=True, help="The first one is enough")
@click.option("--timeout", type=click.FloatRange(0), metavar="S", default=None, help="Give up after S seconds (exit 1)")
@as_json
def wait(ids: tuple[str, ...], states: str, some: bool, timeout: float | None, json: bool) -> int:
    """Block until each of the agents is in one of the states, and print each with its state. `gone` waits until an
    agent is removed; for every other state a removed agent is an error.

    \b
    Examples:
      ib wait worker-a worker-b
      ib wait worker-a worker-b --any --timeout 600
      ib wait worker-a --state complete && ib merge worker-a
    """
    at = arguments.place()
    found = []
    for reached in waiting.wait(at, ids, waiting.states_of(states), some, timeout):
        found.append(reached._asdict())
        if not json:
            output.data(f"{reached.id} {reached.state}")
            sys.stdout.flush()
    if json:
        output.as_json(found)
    return 0


@click.command(short_help="Show all that is known of an agent")
@agent_argument
@as_json
def info(agent: str, json: bool) -> int:
    """Show what is written down of an agent (its meta.json), its state, its session and its files.

    \b
    Examples:
      ib info worker-a
      ib info worker-a --json | jq -r .now.transcript
    """
    at = arguments.place()
    found = informing.info(at, agents.resolve(at, agent))
    if json:
        output.as_json(found)
        return 0
    rows = informing.rows(found)
    width = max(len(name) for name, _ in rows) + 2
    for name, value in rows:
        output.data(terminal.harmless(f"{name + ':':<{width}}{value}"))
    return 0
