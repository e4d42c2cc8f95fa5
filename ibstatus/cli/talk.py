"""ask, questions, answer."""

import time

import click

from ibstatus.cli import arguments, output
from ibstatus.cli.mail import as_json, from_stdin, open_ids
from ibstatus.errors import visible
from ibstatus.mail import ask as talk
from ibstatus.mail.rules import listing
from ibstatus.project import ensure_supervisor


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
