"""send, notify, acknowledge, log: the full command lines of the hot verbs.

ask, questions, answer.
"""

import re
import sys
import time
from collections.abc import Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from ibstatus.cli import arguments, output
from ibstatus.errors import UsageError, quoted, visible
from ibstatus.mail import ask as talk
from ibstatus.mail import messages, questions
from ibstatus.mail import send as say
from ibstatus.mail.rules import listing, wake_line
from ibstatus.model import constants
from ibstatus.project import agents, ensure_supervisor, paths

PLAIN = re.compile(r"[A-Za-z0-9._-]+")


def offered(values: Iterable[tuple[object, object]], incomplete: str) -> list[CompletionItem]:
    """Only what a shell can take as it is: an id out of a file must not become a command."""
    return [
        CompletionItem(str(value), help=visible(str(about).partition("\n")[0][:60]))
        for value, about in values
        if str(value).startswith(incomplete) and PLAIN.fullmatch(str(value))
    ]


def open_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What can be acknowledged or answered here."""
    at = paths.here()
    found = [(item.get("id"), item.get("content", "")) for item in messages.open_ones(at).items]
    return offered(
        [*found, *((item.get("id"), item.get("question", "")) for item in questions.pending(at))], incomplete
    )


def receivers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return offered([(name, "") for name in (constants.PRIMARY, *agents.all_ids(paths.here()))], incomplete)


def kinds(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(kind) for kind in constants.NOTICE_TYPES if kind.startswith(incomplete)]


def agent_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return offered([(name, "") for name in agents.all_ids(paths.here())], incomplete)


as_json = click.option("--json", "json", is_flag=True, help="Print one JSON document")


@click.command(short_help="Send a message to the user's Claude or to an agent")
@click.argument("to", shell_complete=receivers)
@click.argument("text", nargs=-1)
@click.option(
    "--from", "claimed", metavar="ID", default="", help="Speak under another name; it is stored as unverified"
)
@as_json
def send(to: str, text: tuple[str, ...], claimed: str, json: bool) -> int:
    """Send a message to the user's Claude (`user-claude`, or `user`) or into an agent's inbox. An agent hears it
    inside of its turn; one that is idle is woken for it, unless somebody types there or a dialog is open.

    To the user's Claude the beginning says what it is: `? …` or `QUESTION: …` asks, `! …` or `ALERT: …` warns,
    `COMPLETE: …` or `DONE: …` reports; these wake it. Anything else is status: kept and shown, but nobody is woken.
    Without TEXT the message is read from standard input.

    \b
    Examples:
      ib send user-claude "? Should I use CSS variables?"
      ib send user-claude "3 of 5 migrations done"
      ib send worker-a "Use CSS variables"
    """
    at = arguments.place()
    parts = text or from_stdin()
    if to not in constants.TO_PRIMARY:
        report_sent(at, say.send_to_agent(at, arguments.caller(at), to, parts, claimed, time.time()), json)
        return 0
    sent = say.send_to_primary(at, arguments.caller(at), parts, claimed, time.time())
    ensure_supervisor.keep_watched(at)
    output.warn(sent.note)
    if json:
        output.as_json(sent.item)
    else:
        output.data(f"Queued message for user's Claude: {sent.item['type']} {visible(sent.item['id'])}")
    return 0


def report_sent(at: paths.Place, item: dict[str, Any], json: bool) -> None:
    """Whether it has arrived; of one that waits, for what."""
    ensure_supervisor.keep_watched(at)
    why = wake_line.WHY.get(item["state"], "")
    if json:
        output.as_json(item)
    elif item["state"] == "delivered":
        output.data(visible(f"Sent message to {item['to']}: delivered {item['id']}"))
    else:
        output.data(visible(f"Queued message for {item['to']} {f'({why}) ' if why else ''}{item['id']}"))
    if item["state"] == "stopped":
        output.talk(f"{item['to']} is stopped; it hears this when it is resumed: ib resume {quoted(item['to'])}")


def from_stdin() -> tuple[str, ...]:
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("A message is required", hint='put it in quotes, or pipe it in: ib send user-claude "done"')
    return (sys.stdin.buffer.read(constants.LONGEST_TEXT + 1).decode("utf-8", "replace").rstrip("\n"),)


@click.command(short_help="Wake the user's Claude with a notice")
@click.argument("text", nargs=-1)
@click.option(
    "--from", "claimed", metavar="ID", default="", help="Speak under another name; it is stored as unverified"
)
@click.option(
    "--type",
    "kind",
    metavar="TYPE",
    default="",
    shell_complete=kinds,
    help="complete (the default), waiting or question",
)
@as_json
def notify(text: tuple[str, ...], claimed: str, kind: str, json: bool) -> int:
    """Put a notice into the queue and wake whoever listens. Prints nothing without --json: hooks call it.

    \b
    Examples:
      ib notify "Agent worker-a completed"
      ib notify --type waiting "Build is stuck"
    """
    at = arguments.place()
    line = say.notify(at, arguments.caller(at), text, kind, claimed, time.time())
    if json:
        output.as_json(line)
    return 0


@click.command(short_help="Settle messages and questions")
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=open_ids)
@click.option("--all", "everything", is_flag=True, help="Settle all that exist now")
@as_json
def acknowledge(ids: tuple[str, ...], everything: bool, json: bool) -> int:
    """Settle messages (msg-…, removed) and questions (q-…, marked). Alias: ack.

    \b
    Examples:
      ib acknowledge msg-1736610600-manager-abc
      ib acknowledge --all
    """
    if everything == bool(ids):
        wrong = "Say either ids or --all, not both" if ids else "Name the ids, or say --all"
        raise UsageError(wrong, hint="ib messages and ib questions list what is open")
    at = arguments.place()
    done = say.acknowledge(at, arguments.caller(at), None if everything else list(ids), time.time())
    ensure_supervisor.keep_watched(at)
    if json:
        for note in done.notes:
            output.warn(note)
        output.as_json({"acknowledged": done.settled, "unknown": done.missing})
        return 1 if done.missing else 0
    if everything and not done.settled:
        output.talk("Nothing to acknowledge.")
    from ibstatus.cli import fast

    sys.stdout.flush()
    return fast.report_settled(done)


@click.command(short_help="Write a line into an agent's log")
@click.argument("text", nargs=-1)
@click.option(
    "--id", "agent", metavar="ID", default="", shell_complete=agent_ids, help="Whose log, outside of its worktree"
)
@click.option("-q", "--quiet", is_flag=True, help="Do not repeat the text on stdout")
def log(text: tuple[str, ...], agent: str, quiet: bool) -> int:
    """Write a line into the agent's log (.ittybitty/agents/ID/agent.log), with the time.

    \b
    Examples:
      ib log "Found 5 files to process"
      ib log --id worker-a "restarted by hand"
    """
    at = arguments.place()
    said = say.log(at, arguments.caller(at), text, agent, time.time())
    if not quiet:
        output.data(said)
    return 0


@click.command(short_help="Ask the user a question (for agents)")
@click.argument("text", nargs=-1)
@click.option(
    "--id", "--from", "claimed", metavar="ID", default="", help="Ask for this agent; it is stored as unverified"
)
@as_json
def ask(text: tuple[str, ...], claimed: str, json: bool) -> int:
    """Ask the user a question. It is kept until it is answered or acknowledged, and wakes the user's Claude.

    For agents without a manager; others ask their manager. Without TEXT the question is read from standard input.

    \b
    Example:
      ib ask "Should I refactor the auth module?"
    """
    at = arguments.place()
    item, note = talk.ask(at, arguments.caller(at), text or from_stdin(), claimed, time.time())
    ensure_supervisor.keep_watched(at)
    output.warn(note)
    if json:
        output.as_json(item)
        return 0
    output.data(visible(f"Question submitted (ID: {item['id']})"))
    output.talk(f"The answer comes into {at.agent_dir(item['agent'])}/inbox.jsonl; end your turn with WAITING.")
    return 0


@click.command("questions", short_help="List what agents have asked")
@click.option("-a", "--all", "everything", is_flag=True, help="Settled ones too")
@as_json
def list_questions(everything: bool, json: bool) -> int:
    """List the open questions of agents.

    \b
    Example:
      ib questions --all
    """
    at = arguments.place()
    items, note = talk.listed(at, everything)
    ensure_supervisor.keep_agents_watched(at)
    output.warn(note)
    if json:
        output.as_json(items)
    else:
        output.data(listing.questions(items, everything, time.time()))
    return 0


@click.command("messages", short_help="List what agents have told the user's Claude")
@as_json
def list_messages(json: bool) -> int:
    """List the messages that nobody has acknowledged.

    \b
    Example:
      ib messages --json
    """
    at = arguments.place()
    items, note = talk.open_messages(at)
    ensure_supervisor.keep_agents_watched(at)
    output.warn(note)
    if json:
        output.as_json(items)
    else:
        output.data(listing.messages(items, time.time()))
    return 0


@click.command(short_help="Answer an agent, and settle what it asked")
@click.argument("item", metavar="ID", shell_complete=open_ids)
@click.argument("text", nargs=-1)
@as_json
def answer(item: str, text: tuple[str, ...], json: bool) -> int:
    """Send the answer to the agent that asked (q-…) or wrote (msg-…), and settle it, in one step.

    Without TEXT the answer is read from standard input.

    \b
    Example:
      ib answer q-1736610600-manager-abc "Use CSS variables"
    """
    at = arguments.place()
    done = talk.answer(at, arguments.caller(at), item, text or from_stdin(), time.time())
    ensure_supervisor.keep_watched(at)
    output.warn(done.note)
    if json:
        output.as_json({"id": done.item, "agent": done.agent, "state": done.state})
    else:
        how = "delivered to" if done.state == "delivered" else "queued for"
        output.data(visible(f"Answered {done.item}: {how} {done.agent}"))
    return 0
