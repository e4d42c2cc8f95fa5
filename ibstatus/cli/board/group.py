"""ib board: the group, and what every command of it shares."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import click
from click.shell_completion import CompletionItem

from ibstatus.board import caller, opening
from ibstatus.board.rules import validation as rule
from ibstatus.cli import arguments, output
from ibstatus.cli.lazy import Lazy
from ibstatus.cli.mail import offered
from ibstatus.errors import UsageError, visible
from ibstatus.model.board import Task
from ibstatus.project import paths

# name → (module:command, the heading in `ib board --help`)
TASKS, WORK, PEOPLE, STREAM = "Tasks", "Work", "Decide", "Keep"
COMMANDS = {
    "add": ("ibstatus.cli.board.tasks:add", TASKS),
    "list": ("ibstatus.cli.board.tasks:list_tasks", TASKS),
    "show": ("ibstatus.cli.board.tasks:show", TASKS),
    "tree": ("ibstatus.cli.board.tasks:tree", TASKS),
    "search": ("ibstatus.cli.board.tasks:search", TASKS),
    "prompt": ("ibstatus.cli.board.tasks:prompt", TASKS),
    "claim": ("ibstatus.cli.board.claim:claim", WORK),
    "note": ("ibstatus.cli.board.work:note", WORK),
    "beat": ("ibstatus.cli.board.work:beat", WORK),
    "done": ("ibstatus.cli.board.work:done", WORK),
    "fail": ("ibstatus.cli.board.work:fail", WORK),
    "release": ("ibstatus.cli.board.work:release", WORK),
    "approve": ("ibstatus.cli.board.tasks:approve", PEOPLE),
    "reject": ("ibstatus.cli.board.tasks:reject", PEOPLE),
    "retry": ("ibstatus.cli.board.tasks:retry", PEOPLE),
    "publish": ("ibstatus.cli.board.tasks:publish", PEOPLE),
    "depend": ("ibstatus.cli.board.tasks:depend", PEOPLE),
    "take-back": ("ibstatus.cli.board.tasks:take_back", PEOPLE),
    "watch": ("ibstatus.cli.board.watch:watch", STREAM),
    "merge": ("ibstatus.cli.board.merge:merge", STREAM),
    "up": ("ibstatus.cli.board.watch:up", STREAM),
    "migrate": ("ibstatus.cli.board.watch:migrate", STREAM),
}
ALIASES = {"ls": "list"}


class Board(Lazy):
    table, aliases = COMMANDS, ALIASES
    headings, words = (TASKS, WORK, PEOPLE, STREAM), "ib board"


@click.group(cls=Board, short_help="Tasks that agents take, finish and wait for; their events; the merge queue")
def board() -> None:
    """A board of tasks: put down (add), read (list, show), taken by who is free (claim --wait), finished (done), with
    all that follows from it: dependents become ready, branches are merged, watchers hear of it.

    It is a file of this repository, or a PostgreSQL when more than one machine works on it (board.dsn, IB_BOARD_DSN).

    \b
    Examples:
      ib board add "Design the API" --priority 8
      ib board add "Write the endpoints" --after design-the-api
      ib new-agent --task design-the-api
      ib board watch | jq -r .channel
      ib board merge --watch
    """


def at_desk() -> AbstractContextManager[caller.Desk]:
    """The board of where the caller stands."""
    at = arguments.place()
    return caller.at(at, arguments.caller(at))


def ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """A look makes no board."""
    at = paths.here()
    if not opening.is_there(at):
        return []
    with caller.at(at, arguments.caller(at)) as found:
        return offered([(task.id, task.title) for task in found.board.tasks()], incomplete)


def told(task: Task, json: bool, what: str) -> int:
    """One task, as every command that changes one prints it."""
    if json:
        output.as_json(task)
    else:
        output.data(visible(f"{what}: {task.id}"))
    return 0


def between(lowest: int, highest: int) -> Callable[[click.Context, click.Parameter, int | None], int | None]:
    """click's own range would stand in the help, in mathematics."""

    def checked(ctx: click.Context, param: click.Parameter, given: int | None) -> int | None:
        if given is not None and not lowest <= given <= highest:
            name = param.opts[0] if isinstance(param, click.Option) else str(param.metavar)
            raise UsageError(f"{name} takes {lowest} to {highest}, not {given}", hint=f"{ctx.command_path} --help")
        return given

    return checked


agent_option = click.option("--agent", metavar="NAME", default="", help="In whose name; your own otherwise")
attempt_option = click.option(
    "--attempt",
    metavar="N",
    type=int,
    callback=between(0, (1 << 31) - 1),
    default=None,
    help="The attempt that the claim said; another one is refused",
)


def checked_project(ctx: click.Context, param: click.Parameter, given: str) -> str | None:
    """None: of all."""
    return rule.checked_name(given, "A project") if given else None


project_option = click.option(
    "-p", "--project", metavar="P", default="", callback=checked_project, help="Of this project alone"
)
