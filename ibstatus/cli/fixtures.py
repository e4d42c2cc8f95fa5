"""test-*: what the real functions make of a fixture.

test-resolve-id, test-relationships, test-reassign: fixtures about who is who.

test-pretooluse and its like: what the guard makes of a fixture. The word on stdout, the reason on stderr.

parse-state: what a screen says of a session's state.

test-build-settings, test-session-start, test-inject-status-filter, test-enforce-access,
test-detect-state-message: fixtures about sessions.
"""

import json
import time

import click

from ibstatus.cli import output
from ibstatus.errors import IbError
from ibstatus.setup import config as loaded
from ibstatus.testkit.fixtures import permissions, proof, screens
from ibstatus.testkit.fixtures import proof as settings_proof

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


@click.command("test-resolve-id", short_help="Which agent the beginning of an id in FILE means")
@fixture
def resolve_id(file: str) -> int:
    """Print the id, or error, for a file with `{"partial": …, "agents": [id, …]}`."""
    output.data(proof.resolved(file))
    return 0


@click.command("test-relationships", short_help="The children of the manager in FILE")
@fixture
def relationships(file: str) -> int:
    """Print the ids of the manager's agents for a file with `{"agents": […], "query": {"manager": …}}`."""
    output.data(" ".join(proof.children(file)))
    return 0


@click.command("test-reassign", short_help="May the agent in FILE get that manager?")
@fixture
def reassign(file: str) -> int:
    """Print ok, noop:WHY or error:WHY for a file with `{"agents": […], "reassign": {"agent": …, "new_parent": …}}`."""
    output.data(proof.reassigned(file))
    return 0


@click.command("test-pretooluse", short_help="allow or deny for the agent's tool call in FILE")
@fixture
def pretooluse(file: str) -> int:
    """Print allow, deny or none for a tool call with its lists and places."""
    return said(*permissions.pretooluse(file))


@click.command("test-tool-match", short_help="Does a pattern match the tool call in FILE")
@fixture
def tool_match(file: str) -> int:
    """Print match or no-match for a tool call and its pattern or patterns."""
    return said(permissions.tool_match(file))


@click.command("test-tool-allowed", short_help="Do the settings allow the tool call in FILE")
@fixture
def tool_allowed(file: str) -> int:
    """Print allowed or denied for a tool call and settings with permissions."""
    return said(permissions.tool_allowed(file))


@click.command("test-main-path", short_help="May the primary run the command in FILE")
@fixture
def main_path(file: str) -> int:
    """Print allow or deny for a command of the primary: it stays out of agents' worktrees."""
    return said(*permissions.main_path(file))


def said(word: str, reason: str = "") -> int:
    output.data(word)
    if reason:
        output.talk(reason)
    return 0


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


@click.command("test-build-settings", short_help="The settings of an agent with the role in FILE")
@fixture
@click.option("--validate", is_flag=True, help="Print `valid` or `invalid` only")
def build_settings(file: str, validate: bool) -> int:
    """Print the settings file that an agent would get: FILE holds a role, or an object with what goes into it."""
    try:
        settings = settings_proof.build_settings(file)
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
    output.data(settings_proof.role(file))
    return 0


@click.command("test-inject-status-filter", short_help="Does the session in FILE hear of the fleet?")
@fixture
def inject_status_filter(file: str) -> int:
    """Print inject or skip for a file with `{"cwd": …}`."""
    output.data("inject" if settings_proof.is_injected(file) else "skip")
    return 0


@click.command("test-enforce-access", short_help="May the caller in FILE run its command?")
@fixture
def enforce_access(file: str) -> int:
    """Print allow or deny for a file with `{"is_agent": …, "cmd": …, "subcmd": …}`; the reason goes to stderr."""
    reason = settings_proof.refusal(file)
    output.data("deny" if reason else "allow")
    if reason:
        output.talk(reason + ".")
    return 0


@click.command("test-detect-state-message", short_help="How the turn that says what is in FILE has ended")
@fixture
def turn_end(file: str) -> int:
    """Print complete, waiting or unknown for the last thing that an agent said."""
    output.data(settings_proof.turn_end(file))
    return 0
