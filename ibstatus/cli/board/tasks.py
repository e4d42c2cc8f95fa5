"""ib board approve, reject, retry, publish, depend, take-back: what people decide.

ib board add, list, show, tree, search, prompt.
"""

import sys
from collections.abc import Sequence

import click
import msgspec

from ibstatus.board import caller as op
from ibstatus.board.rules import prompt as board_prompt
from ibstatus.board.rules import text
from ibstatus.board.rules import validation as rule
from ibstatus.cli import arguments, output
from ibstatus.cli.board.group import at_desk, ids, project_option, told
from ibstatus.cli.mail import as_json
from ibstatus.cli.state import width
from ibstatus.errors import UsageError, quoted, visible
from ibstatus.model.board import Task
from ibstatus.project import agents

task_argument = click.argument("task", metavar="ID", shell_complete=ids)
by_option = click.option("--by", metavar="NAME", default="", help="Who decides; you otherwise")


@click.command(short_help="Let a task become ready that needs approval")
@task_argument
@by_option
@as_json
def approve(task: str, by: str, json: bool) -> int:
    """Approve a task that was added with --approval. It is ready as soon as nothing else holds it back.

    \b
    Example:
      ib board approve deploy
    """
    with at_desk() as desk:
        found = desk.board.approve(op.meant(desk, task), op.name(desk.caller, by))
    what = "Approved" if found.requires_approval else "It needs no approval"
    return told(found, json, f"{what}, {text.status(found)}")


@click.command(short_help="Take a task off the board: nobody shall do it")
@task_argument
@by_option
@click.option("--reason", metavar="TEXT", default="", help="Why")
@as_json
def reject(task: str, by: str, reason: str, json: bool) -> int:
    """Reject a task that nobody has claimed. What comes after it stays held back until `retry`, or `depend --not`.

    \b
    Example:
      ib board reject deploy --reason "not this week"
    """
    with at_desk() as desk:
        why = rule.text_of(reason, "A reason")
        found = desk.board.reject(op.meant(desk, task), op.name(desk.caller, by), why)
    return told(found, json, "Rejected")


@click.command(short_help="Try a failed or rejected task again")
@task_argument
@as_json
def retry(task: str, json: bool) -> int:
    """Put a failed or rejected task back: it gets as many attempts as it had.

    \b
    Example:
      ib board retry deploy
    """
    with at_desk() as desk:
        found = desk.board.retry(op.meant(desk, task))
    return told(found, json, f"Back, {text.status(found)}")


@click.command(short_help="Make a task of a draft")
@click.argument("tasks", metavar="ID...", nargs=-1, required=True, shell_complete=ids)
@as_json
def publish(tasks: tuple[str, ...], json: bool) -> int:
    """Publish drafts: from now on they can become ready.

    \b
    Example:
      ib board publish deploy rollback
    """
    with at_desk() as desk:
        whole = [op.meant(desk, task) for task in tasks]
        for id in whole:
            found = desk.board.publish(id)
            told(found, json, f"Published, {text.status(found)}")
    return 0


@click.command(short_help="Let a task wait for others, or not any more")
@task_argument
@click.argument("others", metavar="ON...", nargs=-1, required=True, shell_complete=ids)
@click.option("--not", "undo", is_flag=True, help="It waits for these no more")
@as_json
def depend(task: str, others: tuple[str, ...], undo: bool, json: bool) -> int:
    """Let a task that nobody has claimed wait for others. A circle is refused.

    \b
    Examples:
      ib board depend deploy write-the-tests
      ib board depend deploy design-the-api --not
    """
    with at_desk() as desk:
        on = [op.meant(desk, other) for other in others]
        id = op.meant(desk, task)
        found = desk.board.undepend(id, on) if undo else desk.board.depend(id, on)
    return told(found, json, text.status(found).capitalize())


@click.command("take-back", short_help="Take a claimed task from whoever has it")
@task_argument
@click.option("--reason", metavar="TEXT", default="", help="Why")
@as_json
def take_back(task: str, reason: str, json: bool) -> int:
    """Take a task back from an agent: it is ready again, and what that agent still says of it is refused.

    \b
    Example:
      ib board take-back deploy --reason "that machine is gone"
    """
    with at_desk() as desk:
        had = op.task(desk, task).claimed_by
        found = desk.board.take_back(op.meant(desk, task), rule.text_of(reason, "A reason"))
    if had and agents.exists(desk.place, had):
        output.talk(visible(f"{had} is told within two minutes, if it lives; to end it now: ib kill {quoted(had)}"))
    return told(found, json, "Taken back")


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
        arguments.of_file(body) if body else "",
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
