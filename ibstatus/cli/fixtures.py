"""test-*: what the real functions make of a fixture."""

import time

import click

from ibstatus.cli import output
from ibstatus.setup import load_config as loaded
from ibstatus.testkit.fixtures import proof

fixture = click.argument("file", metavar="FILE")


@click.command("test-format-age", short_help="Age of `created now` in FILE")
@fixture
def format_age(file: str) -> int:
    """Print the age that a file with two epochs, created and now, stands for: 5s, 3m, 2h, 1d."""
    output.data(proof.format_age(file))
    return 0


@click.command("test-log-format", short_help="The agent.log line for the text in FILE")
@fixture
@click.option("--timestamp", default="", metavar="TEXT", help="What to put between the brackets")
def log_format(file: str, timestamp: str) -> int:
    """Print the line that `ib log` would write for the text in FILE."""
    output.data(proof.log_format(file, timestamp))
    return 0


@click.command("test-notify-format", short_help="The queue line for the fields in FILE")
@fixture
def notify_format(file: str) -> int:
    """Print the queue line for a file with `{"from": …, "type": …, "msg": …}`."""
    output.data(proof.notify_format(file, time.time()))
    return 0


@click.command("test-notify-drain", short_help="What a listener prints for the queue in FILE")
@fixture
def notify_drain(file: str) -> int:
    """Print what `ib listen` would print for a queue file; what it skips is said on stderr."""
    text, skipped = proof.notify_drain(file)
    for note in skipped:
        output.warn(note)
    click.echo(text, nl=False)
    return 0


@click.command("test-load-config", short_help="What the config in FILE comes to")
@fixture
def load_config(file: str) -> int:
    """Print the settings that a .ittybitty.json comes to, a key a line."""
    output.data(loaded.load_config(file).rstrip("\n"))
    return 0
