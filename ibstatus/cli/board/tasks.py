"""ib board approve, reject, retry, publish, depend, take-back: what people decide."""

import click

from ibstatus.board import caller as op
from ibstatus.board.rules import text
from ibstatus.board.rules import validation as rule
from ibstatus.cli import output
from ibstatus.cli.board.group import at_desk, ids, told
from ibstatus.cli.mail import as_json
from ibstatus.errors import quoted, visible
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
