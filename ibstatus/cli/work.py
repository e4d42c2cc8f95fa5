"""diff, and what `ib status` says of one agent."""

import os
import sys

import click

from ibstatus.cli import arguments, output
from ibstatus.cli.mail import agent_ids, as_json
from ibstatus.errors import IbError, UsageError
from ibstatus.merge import work as op
from ibstatus.merge.rules import work_text
from ibstatus.project import agent_worktree, agents, paths


@click.command(short_help="Show all that an agent has changed")
@click.argument("agent", metavar="[ID]", default="", shell_complete=agent_ids)
@click.option("--stat", is_flag=True, help="Only which files, and how much")
@click.option("--committed", is_flag=True, help="Leave out what is not committed")
@click.option("--external", is_flag=True, help="In the program that externalDiffTool names")
@as_json
def diff(agent: str, stat: bool, committed: bool, external: bool, json: bool) -> int:
    """Show an agent's whole work: committed, uncommitted, untracked. It counts from where the agent left its manager's
    branch; without a manager, from where it left the branch that it began at.

    Inside an agent's worktree ID is that agent. git shows it, with your pager and colours.

    \b
    Examples:
      ib diff worker-a
      ib diff worker-a --stat
      ib diff worker-a --external
    """
    at = arguments.place()
    who = meant(at, agent)
    if json:
        output.as_json(facts(op.of(at, who, os.getcwd(), committed)))
        return 0
    sys.stdout.flush()
    if not external:
        return op.show(at, who, os.getcwd(), committed, stat)
    if at.agent and not arguments.is_person():
        raise IbError("An agent has no screen for another program", hint=f"ib diff {who}")
    return op.show_in_tool(at, who, os.getcwd())


def meant(at: paths.Place, given: str) -> str:
    if not given and not at.agent:
        raise UsageError("Whose work? This is not an agent's worktree", hint="ib diff ID; ib list shows the ids")
    return agents.resolve(at, given) if given else at.agent


def show_agent(at: paths.Place, agent: str, json: bool) -> int:
    """`ib status ID`."""
    who = agents.resolve(at, agent)
    work, now = op.of(at, who, os.getcwd()), op.now(at, who)
    if json:
        output.as_json({**facts(work), **facts_now(now)})
        return 0
    line = work.line
    commits = [(commit.short, commit.subject) for commit in work.commits]
    known = work_text.now(now.agent, now.questions)
    about = (line.agent, line.name, line.worktree, line.into)
    lost = agent_worktree.lost_worktree(at, who)
    output.data(work_text.work(*about, commits, work.changes, work.summary, known, lost))
    return 0


def facts_now(now: op.Now) -> dict[str, object]:
    one = now.agent
    known = {"state": one.state, "reason": one.reason, "age": one.age, "task": one.prompt} if one else {}
    return {**known, "questions": [{"id": ident, "question": text} for ident, text in now.questions]}


def facts(work: op.Work) -> dict[str, object]:
    return {
        **work.line._asdict(),
        "branch": work.line.name,
        "commits": [commit._asdict() for commit in work.commits],
        "uncommitted": [change._asdict() for change in work.changes],
        "files": [file._asdict() for file in work.files],
        "summary": work.summary,
    }
