"""test-pretooluse and its like: what the guard makes of a fixture. The word on stdout, the reason on stderr."""

import click

from ibstatus.cli import output
from ibstatus.testkit.fixtures import permissions as proof

fixture = click.argument("file", metavar="FILE")


@click.command("test-pretooluse", short_help="allow or deny for the agent's tool call in FILE")
@fixture
def pretooluse(file: str) -> int:
    """Print allow, deny or none for a tool call with its lists and places."""
    return said(*proof.pretooluse(file))


@click.command("test-tool-match", short_help="Does a pattern match the tool call in FILE")
@fixture
def tool_match(file: str) -> int:
    """Print match or no-match for a tool call and its pattern or patterns."""
    return said(proof.tool_match(file))


@click.command("test-tool-allowed", short_help="Do the settings allow the tool call in FILE")
@fixture
def tool_allowed(file: str) -> int:
    """Print allowed or denied for a tool call and settings with permissions."""
    return said(proof.tool_allowed(file))


@click.command("test-main-path", short_help="May the primary run the command in FILE")
@fixture
def main_path(file: str) -> int:
    """Print allow or deny for a command of the primary: it stays out of agents' worktrees."""
    return said(*proof.main_path(file))


def said(word: str, reason: str = "") -> int:
    output.data(word)
    if reason:
        output.talk(reason)
    return 0
