"""list, tree, status.

why: the evidence behind an agent's state.

diff, and what `ib status` says of one agent.
"""

import os
import shutil
import sys
import time
from typing import TYPE_CHECKING

import click
import msgspec

from ibstatus.agents import recover
from ibstatus.cli import arguments, output
from ibstatus.cli.mail import agent_ids, as_json
from ibstatus.errors import IbError, UsageError, visible
from ibstatus.merge import work as agent_work
from ibstatus.merge.rules import text
from ibstatus.model.fleet import Agent, Snapshot
from ibstatus.project import agent_meta, agents, config, ensure_supervisor, paths
from ibstatus.project import agents as known
from ibstatus.state import fleet as op
from ibstatus.state.rules import fleet as judging
from ibstatus.state.rules import status_text

if TYPE_CHECKING:
    from ibstatus.board import overview


@click.command("list", short_help="Show all agents")
@click.option("--manager", metavar="ID", default=None, shell_complete=agent_ids, help="Only the agents of this manager")
@click.option("--processes", is_flag=True, help="What runs for this repository, with what has lost its agent")
@as_json
def list_agents(manager: str | None, processes: bool, json: bool) -> int:
    """Show every agent: id, state, age, model, manager, the beginning of its task.

    \b
    Examples:
      ib list
      ib list --manager lead --json
      ib list --processes
    """
    at = arguments.place()
    if processes:
        return list_processes(at, manager, json)
    found = shown(at).agents
    if manager is not None:
        chief = known.resolve(at, manager)
        found = [agent for agent in found if agent.manager == chief]
    if json:
        output.as_json(found)
        return 0
    output.data(status_text.rows(found, sys.stdout.isatty(), width()) if found else status_text.NONE_YET)
    if found:
        output.data("\n" + status_text.counted(found, int(config.value(at, "maxAgents"))))
    say_cut_off(at, found)
    return 0


def width() -> int:
    """Of the terminal that stdout is; what goes elsewhere is never cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def list_processes(at: paths.Place, manager: str | None, json: bool) -> int:
    """Only shown: what has lost its agent is ended by `ib gc`."""
    from ibstatus.agents import processes
    from ibstatus.system.process import classify

    if manager is not None:
        raise UsageError("--processes shows those of all agents", hint="ib list --processes")
    found = processes.find(at)
    if json:
        output.as_json([own._asdict() for own in found.owned])
    elif not found.owned:
        output.data(classify.NONE)
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
        harmless = [own._replace(command=visible(own.command)) for own in found.owned]
        for line in classify.table(harmless, width):
            output.data(line)
    if found.hidden:
        output.talk(f"{found.hidden} more of your processes could not be looked into.")
    if any(own.orphan for own in found.owned):
        output.talk("To end the orphans: ib gc")
    return 0


def say_cut_off(at: paths.Place, found: list[Agent]) -> None:
    """After a crash or a reboot nothing is resumed by itself: what to type is said."""
    if any(judging.is_over(agent) for agent in found):
        from ibstatus.agents import resume_all
        from ibstatus.agents.rules import resume_plan

        notice = resume_plan.notice(len(resume_all.cut_off(at, found)))
        if notice:
            output.talk(notice)


@click.command(short_help="Show the agents under their managers")
@as_json
def tree(json: bool) -> int:
    """Show the agents as a tree, each under its manager. One whose manager is gone stands at the top.

    \b
    Example:
      ib tree
    """
    at = arguments.place()
    found = shown(at).agents
    if json:
        output.as_json([branch(agent, found, frozenset()) for agent in found if agent.manager is None])
        return 0
    output.data(status_text.tree(found, width()) if found else status_text.NONE_YET)
    if found:
        output.data("\n" + status_text.counted(found, int(config.value(at, "maxAgents"))))
    return 0


def shown(at: paths.Place) -> Snapshot:
    """The fleet; and for the next time somebody is there who publishes it."""
    recover.everything(at, output.talk)
    found = op.show(at)
    ensure_supervisor.keep_agents_watched(at)
    return found


def branch(agent: Agent, everybody: list[Agent], above: frozenset[str]) -> dict[str, object]:
    path = above | {agent.id}
    below = [other for other in everybody if other.manager == agent.id and other.id not in path]
    return {**msgspec.to_builtins(agent), "agents": [branch(other, everybody, path) for other in below]}


@click.command(short_help="Show the fleet, or what one agent has done")
@click.argument("agent", required=False, default="", shell_complete=agent_ids)
@as_json
def status(agent: str, json: bool) -> int:
    """Show agents, open questions and messages, and who listens: what the supervisor publishes, or a fresh look.

    With an agent's id (or in its worktree): its branch, its commits, and what is not committed.

    \b
    Examples:
      ib status
      ib status login
      ib status --json | jq '.questions[].question'
    """
    at = arguments.place()
    if agent or at.agent:
        return show_agent(at, agent or at.agent, json)
    snapshot = shown(at)
    board = on_board(at)
    if json:
        output.as_json({**msgspec.to_builtins(snapshot), "board": board} if board is not None else snapshot)
        return 0
    output.data(status_text.status(snapshot, time.time(), width()))
    if board is not None:
        from ibstatus.board.rules import text

        output.data("\n" + text.overview(board.tasks, board.claimed, board.merges, board.problem))
    return 0


def on_board(at: paths.Place) -> "overview.Overview | None":
    """Nothing of it is loaded where there is no board."""
    from ibstatus.board import opening

    if not opening.is_there(at):
        return None
    from ibstatus.board import overview

    return overview.seen(at)


@click.command(short_help="Show the evidence behind an agent's state")
@click.argument("agent", shell_complete=agent_ids)
@as_json
def why(agent: str, json: bool) -> int:
    """Show every piece of evidence on an agent's state: its age, its source, which won, why the others lost.

    \b
    Examples:
      ib why login
      ib why login --json | jq '.evidence[] | select(.won)'
    """
    from ibstatus.project import agents
    from ibstatus.state import why as op
    from ibstatus.state.rules import why_text

    at = arguments.place()
    found = op.why(at, agents.resolve(at, agent))
    if json:
        output.as_json(found)
    else:
        output.data(why_text.text(found, time.time(), width()))
    return 0


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
        output.as_json(facts(agent_work.of(at, who, os.getcwd(), committed)))
        return 0
    sys.stdout.flush()
    if not external:
        return agent_work.show(at, who, os.getcwd(), committed, stat)
    if at.agent and not arguments.is_person():
        raise IbError("An agent has no screen for another program", hint=f"ib diff {who}")
    return agent_work.show_in_tool(at, who, os.getcwd())


def meant(at: paths.Place, given: str) -> str:
    if not given and not at.agent:
        raise UsageError("Whose work? This is not an agent's worktree", hint="ib diff ID; ib list shows the ids")
    return agents.resolve(at, given) if given else at.agent


def show_agent(at: paths.Place, agent: str, json: bool) -> int:
    """`ib status ID`."""
    who = agents.resolve(at, agent)
    work, now = agent_work.of(at, who, os.getcwd()), agent_work.now(at, who)
    if json:
        output.as_json({**facts(work), **facts_now(now)})
        return 0
    line = work.line
    commits = [(commit.short, commit.subject) for commit in work.commits]
    known = text.now(now.agent, now.questions)
    about = (line.agent, line.name, line.worktree, line.into)
    lost = agent_meta.lost_worktree(at, who)
    output.data(text.work(*about, commits, work.changes, work.summary, known, lost))
    return 0


def facts_now(now: agent_work.Now) -> dict[str, object]:
    one = now.agent
    known = {"state": one.state, "reason": one.reason, "age": one.age, "task": one.prompt} if one else {}
    return {**known, "questions": [{"id": ident, "question": text} for ident, text in now.questions]}


def facts(work: agent_work.Work) -> dict[str, object]:
    return {
        **work.line._asdict(),
        "branch": work.line.name,
        "commits": [commit._asdict() for commit in work.commits],
        "uncommitted": [change._asdict() for change in work.changes],
        "files": [file._asdict() for file in work.files],
        "summary": work.summary,
    }
