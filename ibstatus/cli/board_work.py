"""ib board claim, note, beat, done, fail, release: what an agent does with a task."""

import errno
import math
import os
import sys
from collections.abc import Callable

import click

from ibstatus.board import opening
from ibstatus.board.steady import Steady
from ibstatus.cli import calling, output
from ibstatus.cli.board import agent_option, at_desk, attempt_option, between, ids, told
from ibstatus.cli.say import as_json
from ibstatus.errors import UsageError, visible
from ibstatus.model.board import Branch, Claimer, Task, Template
from ibstatus.ops.board import branches, claiming, ending
from ibstatus.ops.board import desk as op
from ibstatus.rules import board as rule
from ibstatus.rules import board_text
from ibstatus.store import places

FOREVER = "forever"
LEASE, LONGEST_LEASE, LONGEST_WAIT = 900.0, 604800.0, 1e9


def checked_lease(ctx: click.Context, param: click.Parameter, given: float) -> float:
    """click's own range lets `nan` pass."""
    if not 1 <= given <= LONGEST_LEASE:
        raise UsageError(f"--lease takes 1 to {LONGEST_LEASE:.0f} seconds, not {given}")
    return given


lease_option = click.option(
    "--lease",
    metavar="S",
    type=float,
    callback=checked_lease,
    default=LEASE,
    help="Seconds without a sign; 900 otherwise",
)


@click.command(short_help="Take a task that is ready; prints its id")
@click.argument("task", metavar="[ID]", required=False, default="", shell_complete=ids)
@click.option("-p", "--project", metavar="P", default="", help="One of this project")
@click.option("--capability", metavar="C", multiple=True, help="Also one that needs this; repeatable")
@click.option("--priority", metavar="N", type=int, default=None, help="One of at least this priority")
@agent_option
@click.option(
    "--count",
    metavar="N",
    type=int,
    callback=between(1, 1000),
    default=1,
    help="As many as this at once, up to 1000",
)
@lease_option
@click.option("--wait", metavar="[S]", is_flag=False, flag_value=FOREVER, default=None, help="Wait until there is one")
@as_json
def claim(
    task: str,
    project: str,
    capability: tuple[str, ...],
    priority: int | None,
    agent: str,
    count: int,
    lease: float,
    wait: str | None,
    json: bool,
) -> int:
    """Take the best task that is ready: highest priority, then oldest. It is yours until the lease runs out; `beat` and
    `note` extend it. None: exit 1 and nothing on stdout.

    With --wait it waits for one, S seconds or for ever. With an ID it takes just that task.

    \b
    Examples:
      ib board claim --agent me
      ib board claim -p backend --capability gpu --wait 60 --json
    """
    at = calling.place()
    who = Claimer(op.name(calling.caller(at), agent), lease)
    if task and (project or capability or priority is not None or count > 1 or wait is not None):
        raise UsageError("With an ID there is nothing to choose or to wait for", hint=f"ib board claim {task}")
    template = Template(
        rule.checked_name(project, "A project") if project else None,
        tuple(rule.checked_name(one, "A capability") for one in capability),
        None if priority is None else rule.checked_priority(priority),
    )
    take = claiming.just(task, who) if task else claiming.fitting(template, who, count)
    try:
        taken = taken_now(take, telling(json)) if wait is None else waited(at, take, seconds(wait), telling(json))
    except ending.Ended:
        output.hush()
        return 130
    return shown(taken) if taken else nothing()


def taken_now(take: claiming.Take, tell: claiming.Tell) -> list[Task]:
    with at_desk() as desk, ending.heard() as end:
        return claiming.at_once(desk.board, take, tell, end)


def waited(at: places.Place, take: claiming.Take, longest: float | None, tell: claiming.Tell) -> list[Task]:
    with ending.heard() as end, Steady(opening.again(at), output.remark, reader=1) as steady:
        return claiming.waited(steady, take, longest, tell, end)


def seconds(given: str) -> float | None:
    """None: for ever."""
    if given == FOREVER:
        return None
    try:
        found = float(given)
    except ValueError:
        found = math.nan
    if not 0 <= found < LONGEST_WAIT:
        raise UsageError(f"--wait takes seconds, or nothing: {rule.cut(given, 40)!r}")
    return found


def telling(json: bool) -> Callable[[list[Task]], None]:
    def tell(taken: list[Task]) -> None:
        """Straight to the pipe: a reader that is gone must be known while the task can still be given back."""
        if sys.stdout is None:  # closed by who started us
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        for task in taken:
            if json:
                output.as_json(task)
            else:
                click.echo(task.id)
        sys.stdout.flush()

    return tell


def shown(taken: list[Task]) -> int:
    for task in taken:
        tries = f"attempt {task.attempt} of {task.max_attempts}"
        output.talk(f"{board_text.title(task)} ({tries}, yours until {task.lease_until})")
    return 0


def nothing() -> int:
    output.talk("Nothing is ready for you. What there is: ib board list")
    return 1


@click.command(short_help="Note something about a task for whoever works on it")
@click.argument("task", metavar="ID", shell_complete=ids)
@click.argument("text", nargs=-1, required=True)
@click.option("--handoff", is_flag=True, help="What whoever goes on with it must know")
@agent_option
@as_json
def note(task: str, text: tuple[str, ...], handoff: bool, agent: str, json: bool) -> int:
    """Note an observation, or a handoff. Whoever takes this task, or one that comes after it, is shown it.

    \b
    Examples:
      ib board note design-the-api "Tokens live in session.py"
      ib board note design-the-api --handoff "Left: the refresh path"
    """
    with at_desk() as desk:
        who = op.name(desk.caller, agent)
        content = rule.text_of(" ".join(text), "A note")
        made = desk.board.note(op.meant(desk, task), who, "handoff" if handoff else "observation", content)
    if json:
        output.as_json(made)
    else:
        output.data(f"Noted on {made.task_id}")
    return 0


@click.command(short_help="Say that a task is still being worked on")
@click.argument("task", metavar="ID", shell_complete=ids)
@agent_option
@attempt_option
@lease_option
@as_json
def beat(task: str, agent: str, attempt: int | None, lease: float, json: bool) -> int:
    """Extend the lease from now on. Exit 1 when the task is not yours any more: stop working on it.

    \b
    Example:
      ib board beat design-the-api --agent me --attempt 1
    """
    with at_desk() as desk:
        found = desk.board.beat(op.fence(desk, task, agent, attempt), lease)
    return told(found, json, f"Yours until {found.lease_until}")


@click.command(short_help="Finish a task")
@click.argument("tasks", metavar="ID...", nargs=-1, required=True, shell_complete=ids)
@agent_option
@attempt_option
@click.option("-m", "--summary", metavar="TEXT", default="", help="What was done, in a sentence or two")
@click.option("--branch", metavar="BRANCH", default="", help="Hand this branch to the merge queue")
@click.option("--into", metavar="BASE", default="", help="Into which one; what is checked out here otherwise")
@as_json
def done(
    tasks: tuple[str, ...], agent: str, attempt: int | None, summary: str, branch: str, into: str, json: bool
) -> int:
    """Finish a task that you have claimed. What comes after it becomes ready: at once, or with --branch when that has
    been merged. An agent of ib hands in its own branch by itself.

    Refused, with nothing changed, when the task is somebody else's by now.

    \b
    Examples:
      ib board done design-the-api --agent me --summary "OpenAPI file in docs/"
      ib board done login --attempt 2 --branch fix-login --into main
    """
    if len(tasks) > 1 and (branch or attempt is not None):
        raise UsageError("--branch and --attempt go with one task", hint="finish them one by one")
    with at_desk() as desk:
        text = rule.text_of(summary, "A summary")
        handed: Branch | None = branches.handed_in(desk, op.meant(desk, tasks[0]), branch, into, os.getcwd())
        if handed is not None and len(tasks) > 1:
            raise UsageError(f"They would all hand in {handed.branch}", hint="finish them one by one")
        found = desk.board.done([op.fence(desk, task, agent, attempt) for task in tasks], text, handed)
        if handed is not None:
            branches.refuse_late(desk, found[0].id, handed)
    if json:
        output.as_json(found[0] if len(tasks) == 1 else found)
        return 0
    for one in found:
        output.data(f"Done: {one.id}")
    if handed is not None:
        output.talk(visible(f"{handed.branch} waits to be merged into {handed.base}: ib board merge"))
    return 0


@click.command(short_help="Say that a task could not be done")
@click.argument("task", metavar="ID", shell_complete=ids)
@click.argument("reason", nargs=-1)
@agent_option
@attempt_option
@as_json
def fail(task: str, reason: tuple[str, ...], agent: str, attempt: int | None, json: bool) -> int:
    """Give a task up. It is ready again while attempts are left, else it has failed. The reason is noted on it.

    \b
    Example:
      ib board fail design-the-api "The tests need a database" --agent me
    """
    with at_desk() as desk:
        why = rule.text_of(" ".join(reason), "A reason")
        found = desk.board.fail(op.fence(desk, task, agent, attempt), why)
    left = f"ready again ({found.attempt} of {found.max_attempts} attempts used)"
    return told(found, json, "Failed" if found.status == rule.FAILED else f"Failed, {left}")


@click.command(short_help="Give a task back unfinished")
@click.argument("task", metavar="ID", shell_complete=ids)
@agent_option
@attempt_option
@click.option("--reason", metavar="TEXT", default="", help="Why")
@as_json
def release(task: str, agent: str, attempt: int | None, reason: str, json: bool) -> int:
    """Give a task back: it is ready again, and this attempt does not count.

    \b
    Example:
      ib board release design-the-api --agent me
    """
    with at_desk() as desk:
        found = desk.board.release(op.fence(desk, task, agent, attempt), rule.text_of(reason, "A reason"))
    return told(found, json, "Released")
