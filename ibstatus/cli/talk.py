"""ask, questions, answer."""

import time

import click
from click.shell_completion import CompletionItem

from ibstatus.cli import calling, output
from ibstatus.cli.say import as_json, from_stdin
from ibstatus.ops import talk
from ibstatus.rules import listing
from ibstatus.store import places, questions


def pending_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    found = questions.pending(places.here())
    return [
        CompletionItem(item["id"], help=str(item.get("question", ""))[:60])
        for item in found
        if item["id"].startswith(incomplete)
    ]


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
    at = calling.place()
    item, note = talk.ask(at, calling.caller(at), text or from_stdin(), claimed, time.time())
    output.warn(note)
    if json:
        output.as_json(item)
        return 0
    output.data(f"Question submitted (ID: {item['id']})")
    output.talk("The answer comes as a message. End your turn with WAITING if you need it first.")
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
    at = calling.place()
    items, note = talk.listed(at, everything)
    output.warn(note)
    if json:
        output.as_json(items)
    else:
        output.data(listing.questions(items, everything, time.time()))
    return 0


@click.command(short_help="Answer a question: send the answer and settle it")
@click.argument("question", metavar="QUESTION-ID", shell_complete=pending_ids)
@click.argument("text", nargs=-1)
@as_json
def answer(question: str, text: tuple[str, ...], json: bool) -> int:
    """Send the answer to the agent that asked and settle the question, in one step.

    \b
    Example:
      ib answer q-1736610600-manager-abc "Use CSS variables"
    """
    at = calling.place()
    item, note = talk.answer(at, calling.caller(at), question, text or from_stdin(), time.time())
    output.warn(note)
    if json:
        output.as_json(item)
    else:
        output.data(f"Answered {item['id']}: queued for {item['agent']}")
    return 0
