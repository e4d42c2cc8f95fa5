"""ib board note, beat, done, fail, release: what an agent does with a task that it has."""

import os
from collections.abc import Sequence

import click
from click.core import ParameterSource

from ibstatus.board import caller as op
from ibstatus.board import claim, holdings, interrupt
from ibstatus.board.rules import validation as rule
from ibstatus.cli import output
from ibstatus.cli.board.claim import lease_option, nothing, shown, taken_at, telling, template, wanted, watch_over
from ibstatus.cli.board.group import agent_option, at_desk, attempt_option, ids, told
from ibstatus.cli.mail import as_json
from ibstatus.errors import UsageError, quoted, visible
from ibstatus.merge.queue import branches
from ibstatus.model.board import Branch, Claimer, Fence, Task


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
        fence = op.fence(desk, task, agent, attempt)
        found = desk.board.beat(fence, lease)
        holdings.extended(desk.place, desk.caller, Fence(found.id, fence.agent, found.attempt), lease)
    return told(found, json, f"Yours until {found.lease_until}")


@click.command(short_help="Finish a task")
@click.argument("tasks", metavar="ID...", nargs=-1, required=True, shell_complete=ids)
@agent_option
@attempt_option
@click.option("-m", "--summary", metavar="TEXT", default="", help="What was done, in a sentence or two")
@click.option("--branch", metavar="BRANCH", default="", help="Hand this branch to the merge queue")
@click.option("--into", metavar="BASE", default="", help="Into which one; what is checked out here otherwise")
@click.option("--next", "on", is_flag=True, help="And take the next one, as the following say; prints its id")
@wanted
@lease_option
@as_json
def done(
    tasks: tuple[str, ...],
    agent: str,
    attempt: int | None,
    summary: str,
    branch: str,
    into: str,
    on: bool,
    project: str,
    capability: tuple[str, ...],
    priority: int | None,
    lease: float,
    json: bool,
) -> int:
    """Finish a task that you have claimed. What comes after it becomes ready: at once, or with --branch when that has
    been merged. An agent of ib hands in its own branch by itself.

    Refused, with nothing changed, when the task is somebody else's by now.

    With --next you are given the next one in the same step, as by `ib board claim` with the same options; when none is
    ready, nothing is on stdout.

    \b
    Examples:
      ib board done design-the-api --agent me --summary "OpenAPI file in docs/"
      ib board done login --attempt 2 --branch fix-login --into main
      ib board done login --next -p backend
    """
    if len(tasks) > 1 and (branch or attempt is not None):
        raise UsageError("--branch and --attempt go with one task", hint="finish them one by one")
    leased = click.get_current_context().get_parameter_source("lease") is not ParameterSource.DEFAULT
    if not on and (project or capability or priority is not None or leased):
        raise UsageError("--project, --capability, --priority and --lease go with --next", hint="ib board done --help")
    fits = template(project, capability, priority)
    with at_desk() as desk:
        text = rule.text_of(summary, "A summary")
        handed: Branch | None = branches.handed_in(desk, op.meant(desk, tasks[0]), branch, into, os.getcwd())
        if handed is not None and len(tasks) > 1:
            raise UsageError(f"They would all hand in {handed.branch}", hint="finish them one by one")
        fences = [op.fence(desk, task, agent, attempt) for task in tasks]

        def check(found: Sequence[Task]) -> None:
            holdings.ended(desk.place, desk.caller, fences)
            if handed is not None:
                branches.refuse_late(desk, fences[0].task_id, handed)

        if on:
            take = claim.after(fences, text, handed, fits, Claimer(fences[0].agent, lease), check)
            tell = holdings.telling(desk.place, desk.caller, lease, telling(json), output.remark)
            code = gone_on(desk, take, tell, [*finished(fences), *waits(handed)])
            if text:
                warn_of_dropped([task for fence in fences if (task := desk.board.task(fence.task_id))], text)
            return code
        found = desk.board.done(fences, text, handed)
        check(found)
        warn_of_dropped(found, text)
    if json:
        output.as_json(found[0] if len(tasks) == 1 else found)
        return 0
    for line in finished(fences):
        output.data(line)
    for line in waits(handed):
        output.talk(line)
    return 0


def gone_on(desk: op.Desk, take: claim.Take, tell: claim.Tell, said: Sequence[str]) -> int:
    """On stdout is the next one alone."""
    try:
        taken = taken_at(desk.board, take, tell)
    except interrupt.Ended:
        output.hush()
        return 130
    watch_over(desk.place, desk.caller, taken)
    for line in said:
        output.talk(line)
    if taken:
        shown(taken)
    else:
        nothing()
    return 0


def warn_of_dropped(tasks: Sequence[Task], summary: str) -> None:
    """A task that was done before keeps what its first `done` said of it."""
    for task in tasks:
        if summary and task.summary != summary:
            dropped = f"{task.id} was done already, so this summary was not taken"
            output.warn(f"{dropped} (to keep it: ib board note {task.id} {quoted(summary)})")


def finished(fences: Sequence[Fence]) -> list[str]:
    return [f"Done: {one.task_id}" for one in fences]


def waits(handed: Branch | None) -> list[str]:
    if handed is None:
        return []
    return [visible(f"{handed.branch} waits to be merged into {handed.base}: ib board merge")]


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
        fence = op.fence(desk, task, agent, attempt)
        found = desk.board.fail(fence, why)
        holdings.ended(desk.place, desk.caller, [fence])
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
        fence = op.fence(desk, task, agent, attempt)
        found = desk.board.release(fence, rule.text_of(reason, "A reason"))
        holdings.ended(desk.place, desk.caller, [fence])
    return told(found, json, "Released")
