"""test-resolve-id, test-relationships, test-reassign: fixtures about who is who."""

import click

from ibstatus.cli import output
from ibstatus.cli.fixtures import fixture
from ibstatus.testkit.fixtures import proof_fleet as op


@click.command("test-resolve-id", short_help="Which agent the beginning of an id in FILE means")
@fixture
def resolve_id(file: str) -> int:
    """Print the id, or error, for a file with `{"partial": …, "agents": [id, …]}`."""
    output.data(op.resolved(file))
    return 0


@click.command("test-relationships", short_help="The children of the manager in FILE")
@fixture
def relationships(file: str) -> int:
    """Print the ids of the manager's agents for a file with `{"agents": […], "query": {"manager": …}}`."""
    output.data(" ".join(op.children(file)))
    return 0


@click.command("test-reassign", short_help="May the agent in FILE get that manager?")
@fixture
def reassign(file: str) -> int:
    """Print ok, noop:WHY or error:WHY for a file with `{"agents": […], "reassign": {"agent": …, "new_parent": …}}`."""
    output.data(op.reassigned(file))
    return 0
