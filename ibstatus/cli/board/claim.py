"""ib board claim: take a task, or wait for one; and what else takes one."""

import errno
import math
import os
import sys
from collections.abc import Callable
from typing import Any

import click

from ibstatus.board import caller as op
from ibstatus.board import claim as claiming
from ibstatus.board import holdings, interrupt, opening
from ibstatus.board.port import Board
from ibstatus.board.reconnect import Steady
from ibstatus.board.rules import text
from ibstatus.board.rules import validation as rule
from ibstatus.cli import arguments, output
from ibstatus.cli.board.group import agent_option, at_desk, between, ids
from ibstatus.errors import UsageError
from ibstatus.model.board import Claimer, Task, Template
from ibstatus.project import ensure_supervisor, identity, paths

Command = Callable[..., Any]
FOREVER = "forever"
LONGEST_WAIT = 1e9


def checked_lease(ctx: click.Context, param: click.Parameter, given: float) -> float:
    """click's own range lets `nan` pass."""
    if not 1 <= given <= rule.LONGEST_LEASE:
        raise UsageError(f"--lease takes 1 to {rule.LONGEST_LEASE:.0f} seconds, not {given}")
    return given


lease_option = click.option(
    "--lease",
    metavar="S",
    type=float,
    callback=checked_lease,
    default=holdings.LEASE,
    help="Seconds without a sign; 900 otherwise",
)


def wanted(command: Command) -> Command:
    """Which task."""
    options = (
        click.option("-p", "--project", metavar="P", default="", help="One of this project"),
        click.option("--capability", metavar="C", multiple=True, help="Also one that needs this; repeatable"),
        click.option("--priority", metavar="N", type=int, default=None, help="One of at least this priority"),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(short_help="Take a task that is ready; prints its id")
@click.argument("task", metavar="[ID]", required=False, default="", shell_complete=ids)
@wanted
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
@click.option("--json", "json", is_flag=True, help="Print one JSON document a task, each on its line")
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
    `note` extend it (ib itself for its agents, unless --lease is shorter). None: exit 1 and nothing on stdout.

    With --wait it waits for one, S seconds or for ever. With an ID it takes just that task.

    \b
    Examples:
      ib board claim --agent me
      ib board claim -p backend --capability gpu --wait 60 --json
    """
    at = arguments.place()
    caller = arguments.caller(at)
    who = Claimer(op.name(caller, agent), lease)
    if task and (project or capability or priority is not None or count > 1 or wait is not None):
        raise UsageError("With an ID there is nothing to choose or to wait for", hint=f"ib board claim {task}")
    take = claiming.just(task, who) if task else claiming.fitting(template(project, capability, priority), who, count)
    tell = holdings.telling(at, caller, lease, telling(json), output.remark)
    try:
        taken = taken_now(take, tell) if wait is None else waited(at, take, seconds(wait), tell)
    except interrupt.Ended:
        output.hush()
        return 130
    watch_over(at, caller, taken)
    return shown(taken) if taken else nothing()


def watch_over(at: paths.Place, caller: identity.Caller, taken: list[Task]) -> None:
    """What an agent of ib has claimed the supervisor keeps for it: one that sees this board."""
    if taken and caller.kind == identity.AGENT:
        holdings.watch_here(at)
        ensure_supervisor.keep_watched(at)


def template(project: str, capability: tuple[str, ...], priority: int | None) -> Template:
    return Template(
        rule.checked_name(project, "A project") if project else None,
        tuple(rule.checked_name(one, "A capability") for one in capability),
        None if priority is None else rule.checked_priority(priority),
    )


def taken_now(take: claiming.Take, tell: claiming.Tell) -> list[Task]:
    with at_desk() as desk:
        return taken_at(desk.board, take, tell)


def taken_at(board: Board, take: claiming.Take, tell: claiming.Tell) -> list[Task]:
    with interrupt.heard() as end:
        return claiming.at_once(board, take, tell, end)


def waited(at: paths.Place, take: claiming.Take, longest: float | None, tell: claiming.Tell) -> list[Task]:
    with interrupt.heard() as end, Steady(opening.again(at), output.remark, reader=1) as steady:
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
        output.talk(f"{text.title(task)} ({tries}, yours until {task.lease_until})")
    return 0


def nothing() -> int:
    output.talk("Nothing is ready for you. What there is: ib board list")
    return 1
