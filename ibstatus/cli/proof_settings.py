"""test-build-settings, test-session-start, test-inject-status-filter, test-enforce-access,
test-detect-state-message: fixtures about sessions."""

import json

import click

from ibstatus.cli import output
from ibstatus.cli.fixtures import fixture
from ibstatus.errors import IbError
from ibstatus.testkit.fixtures import settings_proof as op


@click.command("test-build-settings", short_help="The settings of an agent with the role in FILE")
@fixture
@click.option("--validate", is_flag=True, help="Print `valid` or `invalid` only")
def build_settings(file: str, validate: bool) -> int:
    """Print the settings file that an agent would get: FILE holds a role, or an object with what goes into it."""
    try:
        settings = op.build_settings(file)
    except IbError:
        if not validate:
            raise
        output.data("invalid")
        return 0
    output.data("valid" if validate else json.dumps(settings, indent=2, ensure_ascii=False))
    return 0


@click.command("test-session-start", short_help="The role of a session that starts as FILE says")
@fixture
def session_start(file: str) -> int:
    """Print primary, manager or worker for a file with `{"cwd": …}`."""
    output.data(op.role(file))
    return 0


@click.command("test-inject-status-filter", short_help="Does the session in FILE hear of the fleet?")
@fixture
def inject_status_filter(file: str) -> int:
    """Print inject or skip for a file with `{"cwd": …}`."""
    output.data("inject" if op.is_injected(file) else "skip")
    return 0


@click.command("test-enforce-access", short_help="May the caller in FILE run its command?")
@fixture
def enforce_access(file: str) -> int:
    """Print allow or deny for a file with `{"is_agent": …, "cmd": …, "subcmd": …}`; the reason goes to stderr."""
    reason = op.refusal(file)
    output.data("deny" if reason else "allow")
    if reason:
        output.talk(reason + ".")
    return 0


@click.command("test-detect-state-message", short_help="How the turn that says what is in FILE has ended")
@fixture
def turn_end(file: str) -> int:
    """Print complete, waiting or unknown for the last thing that an agent said."""
    output.data(op.turn_end(file))
    return 0
