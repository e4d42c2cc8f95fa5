"""ib board merge: the merge queue."""

import sys
import threading

import click

from ibstatus.board import interrupt, opening
from ibstatus.board.rules import text
from ibstatus.board.rules import validation as rule
from ibstatus.cli import arguments, output
from ibstatus.cli.board.group import at_desk, between
from ibstatus.cli.mail import as_json
from ibstatus.cli.state import width
from ibstatus.errors import IbError, UsageError, visible
from ibstatus.merge.queue import drain, resolve
from ibstatus.model.board import Entry
from ibstatus.project import agent_meta, ensure_supervisor, identity, paths

entry_argument = click.argument("entry", metavar="QUEUE", type=int, callback=between(0, (1 << 31) - 1))


def say(text: str) -> None:
    output.talk(visible(text))


@click.group(invoke_without_command=True, short_help="Merge what is queued; list, resolve, retry, abandon")
@click.option("--watch", "watching", is_flag=True, help="Go on for ever: each branch as soon as it is queued")
@as_json
@click.pass_context
def merge(ctx: click.Context, watching: bool, json: bool) -> int:
    """Merge what finished tasks have queued here, oldest first, and close the agents that did it. Prints what became of
    each; exit 1 when one could not be merged. With --watch, and --json, a document a line.

    Your checkout is not worked in: a merge is made beside it. Where the branch is checked out without changes of yours
    it goes along in one step; with changes, the merge waits until they are committed.

    \b
    Examples:
      ib board merge
      ib board merge --watch
      ib board merge list
    """
    if ctx.invoked_subcommand is not None:
        if watching or json:
            raise UsageError("Options of its own stand behind the word", hint=f"{ctx.command_path} --help")
        return 0
    at = arguments.place()
    refuse_agent(at)
    return watched_for_ever(at, json) if watching else once(at, json)


def refuse_agent(at: paths.Place) -> None:
    caller = arguments.caller(at)
    if caller.kind == identity.AGENT:
        raise IbError("An agent cannot run the merge queue: the user or their Claude does", hint="ib board note ID …")


def once(at: paths.Place, json: bool) -> int:
    with at_desk() as desk:
        done = drain.drain(at, desk.board, say)
        stuck = sum(resolve.needed(at, one) for one in desk.board.entries(agent_meta.repo_id(at), open_only=True))
    ensure_supervisor.keep_watched(at)
    if json:
        output.as_json(done)
    elif done:
        show(at, done)
    else:
        output.talk(f"Nothing is to be merged; {text.needs(stuck)}" if stuck else "Nothing is queued.")
    return 0 if all(entry.status == rule.M_MERGED for entry in done) else 1


def show(at: paths.Place, found: list[Entry], head: bool = True) -> None:
    output.data(text.entries(found, head and sys.stdout.isatty(), width()))
    for entry in found:
        if resolve.needed(at, entry):
            say(f"{entry.id}: {resolve.of(at, entry)}")


def watched_for_ever(at: paths.Place, json: bool) -> int:
    stop = threading.Event()

    def report(found: list[Entry]) -> None:
        """A document a line, as other streams have them."""
        if json:
            for entry in found:
                output.as_json(entry)
        else:
            show(at, found, head=False)
        sys.stdout.flush()

    output.talk("Merging what is queued, as it comes. Ctrl-C ends it.")
    try:
        with interrupt.heard():
            drain.watch(at, opening.again(at), stop, say, report)
    except interrupt.Ended:
        return 0
    return 0


@merge.command("list", short_help="Show the queue")
@click.option(
    "--all", "everything", is_flag=True, help="What is merged or abandoned, too; of other repositories as well"
)
@as_json
def list_entries(everything: bool, json: bool) -> int:
    """Show what is queued, and what stands in its way.

    \b
    Example:
      ib board merge list --json
    """
    with at_desk() as desk:
        repo = None if everything else agent_meta.repo_id(desk.place)
        found = desk.board.entries(repo, open_only=not everything)
    if json:
        output.as_json(found)
    elif found:
        show(desk.place, found)
    else:
        output.data(text.NO_ENTRIES)
    return 0


@merge.command("resolve", short_help="Say that a conflict is resolved on its branch")
@entry_argument
@as_json
def resolve_(entry: int, json: bool) -> int:
    """Queue a branch again whose conflict was resolved on it: merge the base into the branch there, and commit. Refused
    while it would conflict still, or while conflict markers stand in it.

    \b
    Example:
      ib board merge resolve 7
    """
    at = arguments.place()
    with at_desk() as desk:
        return told(resolve.resolve(at, desk.board, entry), json, "Queued again")


@merge.command(short_help="Try a failed merge again")
@entry_argument
@as_json
def retry(entry: int, json: bool) -> int:
    """Queue it again, with what its branch is at now.

    \b
    Example:
      ib board merge retry 7
    """
    at = arguments.place()
    with at_desk() as desk:
        drain.free(at, desk.board, entry, say)
        return told(resolve.retry(at, desk.board, entry), json, "Queued again")


@merge.command(short_help="Give a merge up; its branch stays")
@entry_argument
@click.option("--reason", metavar="TEXT", default="", help="Why")
@as_json
def abandon(entry: int, reason: str, json: bool) -> int:
    """Take a branch out of the queue. The branch and its agent stay; tasks that come after it wait for it no more.

    \b
    Example:
      ib board merge abandon 7 --reason "done differently"
    """
    with at_desk() as desk:
        drain.free(desk.place, desk.board, entry, say)
        return told(resolve.abandon(desk.board, entry, rule.text_of(reason, "A reason")), json, "Abandoned")


def told(entry: Entry, json: bool, what: str) -> int:
    if json:
        output.as_json(entry)
    else:
        output.data(visible(f"{what}: {entry.id} ({entry.branch} into {entry.base})"))
    return 0
