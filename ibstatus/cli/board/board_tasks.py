"""ib board add, list, show, tree, search, prompt."""

import sys
from collections.abc import Sequence

import click
import msgspec

from ibstatus.board import caller as op
from ibstatus.board.rules import prompt as board_prompt
from ibstatus.board.rules import text
from ibstatus.board.rules import validation as rule
from ibstatus.cli import given, output
from ibstatus.cli.board.group import at_desk, ids, project_option
from ibstatus.cli.mail import as_json
from ibstatus.cli.state import width
from ibstatus.errors import UsageError
from ibstatus.model.board import Task


@click.command(short_help="Put a task on the board; prints its id")
@click.argument("title", nargs=-1, required=True)
@click.option("-p", "--project", metavar="P", default="", help="The project it belongs to")
@click.option("--priority", metavar="N", type=int, default=rule.USUAL, help="0 to 10, higher first; 5 otherwise")
@click.option("--capability", metavar="C", default="", help="Only for those who claim with it")
@click.option(
    "--after", metavar="ID", multiple=True, shell_complete=ids, help="Ready once this one is over; repeatable"
)
@click.option("--body", metavar="FILE", default="", help="What is to be done in full; - for standard input")
@click.option("--test", metavar="CMD", default="", help="Its branch is merged only if this succeeds on the result")
@click.option("--attempts", metavar="N", type=int, default=3, help="How often it is tried; 3 otherwise")
@click.option("--approval", is_flag=True, help="It becomes ready only with `ib board approve`")
@click.option("--draft", is_flag=True, help="Not for anybody yet: `ib board publish`")
@as_json
def add(
    title: tuple[str, ...],
    project: str,
    priority: int,
    capability: str,
    after: tuple[str, ...],
    body: str,
    test: str,
    attempts: int,
    approval: bool,
    draft: bool,
    json: bool,
) -> int:
    """Put a task on the board. It is ready at once, or as soon as those it comes after are over: done, and merged when
    they have handed in a branch.

    \b
    Examples:
      ib board add "Design the API" -p backend --priority 8
      ib board add Write the endpoints -p backend --after design-the-api --test "make check"
      ib board add "Deploy" --approval --body deploy.md
    """
    before = [one for group in after for one in group.split(",") if one]
    wish = op.Wish(
        " ".join(title),
        given.of_file(body) if body else "",
        project,
        priority,
        capability,
        tuple(before),
        test,
        attempts,
        approval,
        draft,
    )
    with at_desk() as desk:
        task = op.add(desk, wish)
    if json:
        output.as_json(task)
    else:
        output.data(task.id)
        output.talk(text.added(task))
    return 0


@click.command("list", short_help="Show the tasks")
@project_option
@click.option("--status", metavar="S", multiple=True, type=click.Choice(rule.STATUSES), help="Only these; repeatable")
@click.option("--all", "everything", is_flag=True, help="Those that are over, too")
@as_json
def list_tasks(project: str | None, status: tuple[str, ...], everything: bool, json: bool) -> int:
    """Show what is on the board, highest priority first, then oldest. What is done or rejected only with --all.

    \b
    Examples:
      ib board list
      ib board list -p backend --status ready --json
    """
    wanted = status or (() if everything else tuple(one for one in rule.STATUSES if one not in ("done", "rejected")))
    with at_desk() as desk:
        everyone = desk.board.tasks(project)
    found = [task for task in everyone if not wanted or task.status in wanted]
    if json:
        output.as_json(found)
        return 0
    output.data(text.rows(found, sys.stdout.isatty(), width()) if found else none(everyone, bool(status)))
    if everyone:
        output.talk(text.summary(everyone))
    return 0


def none(everyone: Sequence[Task], wanted: bool) -> str:
    """Why there is nothing to see."""
    if not everyone:
        return text.NO_TASKS
    return text.NONE_SUCH if wanted else text.NONE_OPEN


@click.command(short_help="Show one task, with its context")
@click.argument("task", metavar="ID", shell_complete=ids)
@as_json
def show(task: str, json: bool) -> int:
    """Show all of a task: its facts, its text, its notes, what the tasks before it hand on, its branch in the queue.

    \b
    Example:
      ib board show design-the-api
    """
    with at_desk() as desk:
        found = op.task(desk, task)
        notes = desk.board.context(found.id)
        entry = op.entry_of(desk, found.id)
    if json:
        output.as_json({**msgspec.to_builtins(found), "context": notes, "merge": entry})
    else:
        output.data(text.whole(found, notes, entry))
    return 0


@click.command(short_help="Show which task waits for which")
@project_option
@as_json
def tree(project: str | None, json: bool) -> int:
    """Show each task under those that it comes after.

    \b
    Example:
      ib board tree -p backend
    """
    with at_desk() as desk:
        found = desk.board.tasks(project)
    if json:
        output.as_json([{"id": one.id, "status": one.status, "title": one.title, "after": one.after} for one in found])
    else:
        output.data(text.tree(found) if found else text.NO_TASKS)
    return 0


@click.command(short_help="Find tasks by the words in them and in their notes")
@click.argument("words", nargs=-1, required=True)
@project_option
@as_json
def search(words: tuple[str, ...], project: str | None, json: bool) -> int:
    """Find tasks that have all of these words in title, text or notes.

    \b
    Example:
      ib board search refresh token
    """
    with at_desk() as desk:
        found = desk.board.search(rule.text_of(" ".join(words), "A search"), project)
    if json:
        output.as_json(found)
    else:
        output.data(text.hits(found) if found else text.NO_HITS)
    return 0


@click.command(short_help="Print a task as a prompt for a model")
@click.argument("tasks", metavar="ID...", nargs=-1, shell_complete=ids)
def prompt(tasks: tuple[str, ...]) -> int:
    """Print what a model is to be told of a task: what to do, what is known, how to finish it. Of several one after the
    other.

    \b
    Examples:
      ib board prompt design-the-api
      claude -p "$(ib board prompt $(ib board claim --agent me))"
    """
    if not tasks:
        raise UsageError("Of which task?", hint="ib board list")
    texts = []
    with at_desk() as desk:
        for given in tasks:
            found = op.task(desk, given)
            texts.append(board_prompt.text(found, desk.board.context(found.id)))
    output.data("\n".join(texts).rstrip("\n"))
    return 0
