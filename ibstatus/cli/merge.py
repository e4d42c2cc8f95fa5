"""merge, merge-check."""

import os
import sys

import click

from ibstatus.cli import arguments, output
from ibstatus.cli.mail import agent_ids, as_json
from ibstatus.errors import IbError, quoted, visible
from ibstatus.merge import merge as op
from ibstatus.merge import preview
from ibstatus.merge.rules import text as merge_text
from ibstatus.project import ensure_supervisor, paths

into_branch = click.option("--into", metavar="BRANCH", default="", help="Merge into this branch, checked out or not")


@click.command(short_help="Merge an agent's work and close the agent")
@click.argument("agent", metavar="ID", shell_complete=agent_ids)
@into_branch
@click.option("-f", "--force", is_flag=True, help="Do not ask")
@click.option("--test", metavar="CMD", default="", help="Merge only if this command succeeds on the merged work")
@as_json
def merge(agent: str, into: str, force: bool, test: str, json: bool) -> int:
    """Merge the branch agent/ID into the branch that is checked out here, then archive and close the agent.

    An agent that was begun on another branch takes that branch's commits along only where --into says so.

    Conflicts, uncommitted files and a failing test are found before anything is changed. An agent that is still
    working and has no commits is not closed, with --force either. Your own merge is a merge
    commit; a manager's merge into its own branch stays linear. `ib undo` takes it back.

    \b
    Examples:
      ib merge worker-a
      ib merge worker-a --into release --test "make check"
    """
    at = arguments.place()
    wish = op.Wish(agent, into, test, os.getcwd(), force)

    def agree(lines: list[str]) -> bool:
        return agreed(
            lines,
            force,
            f"ib merge {quoted(agent)}{f' --into {quoted(into)}' if into else ''}{merge_text.typed(True, test)}",
        )

    merged = op.merge(at, arguments.caller(at), wish, agree, lambda text: output.talk(visible(text)))
    if merged is None:
        output.talk("Cancelled.")
        return 1
    ensure_supervisor.keep_watched(at)
    tell(at, merged, json)
    return 0


def agreed(lines: list[str], force: bool, command: str) -> bool:
    """What will be done, and the answer of a person at a terminal; `command` is how it is done without asking."""
    for line in lines:
        output.talk(line)
    if force:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise IbError("This is not a terminal, so nobody can be asked", hint=command)
    click.echo("Go ahead? [y/N] ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def tell(at: paths.Place, merged: op.Merged, json: bool) -> None:
    plan = merged.plan
    if json:
        output.as_json({**facts(plan), **merged.retired._asdict()})
        return
    text = f"Merged agent/{plan.agent} into {plan.into}: {merge_text.counted(len(plan.commits), 'commit')}"
    output.data(visible(f"{plan.into} had all of agent/{plan.agent}" if plan.is_idle else text))
    output.data(f"Closed agent: {plan.agent}")
    output.data(f"Undo: ib undo {merged.retired.undo}")


def facts(plan: preview.Plan) -> dict[str, object]:
    commits = [commit._asdict() for commit in plan.commits]
    return {"agent": plan.agent, "into": plan.into, "before": plan.before, "after": plan.after, "commits": commits}


@click.command("merge-check", short_help="Would a merge succeed? Changes nothing")
@click.argument("agent", metavar="ID", shell_complete=agent_ids)
@into_branch
@as_json
def merge_check(agent: str, into: str, json: bool) -> int:
    """Say whether `ib merge` would succeed: exit 0, or 1 with the files that conflict or are not committed.

    \b
    Examples:
      ib merge-check worker-a
      ib merge-check worker-a --into release --json
    """
    at = arguments.place()
    try:
        plan = op.check(at, arguments.caller(at), op.Wish(agent, into, cwd=os.getcwd()))
    except preview.Blocked as blocked:
        if json:
            output.as_json({"ok": False, "problem": blocked.problem, "why": blocked.message, "files": blocked.files})
            return 1
        for name in blocked.files:
            output.data(visible(name))
        raise
    if json:
        output.as_json({"ok": True, "problem": "", "files": [], **facts(plan)})
    else:
        output.data(visible(f"Merge would succeed: 'agent/{plan.agent}' into '{plan.into}'"))
    return 0
