"""kill, nuke, undo, gc."""

import sys
import time

import click
import msgspec
from click.shell_completion import CompletionItem

from ibstatus.agents import gc as sweeping
from ibstatus.agents import kill as killing
from ibstatus.agents.rules import leftovers
from ibstatus.agents.undo import log
from ibstatus.agents.undo import undo as undoing
from ibstatus.cli import arguments, output
from ibstatus.cli.mail import agent_ids, as_json, offered
from ibstatus.errors import IbError, quoted, visible
from ibstatus.project import agent_meta, agents, ensure_supervisor, identity, paths, supervisor_process
from ibstatus.project.rules import counts

force_option = click.option("-f", "--force", is_flag=True, help="Do not ask")


def agreed(question: str, command: str) -> bool:
    """Does a person say yes? Where nobody can be asked it is refused, with the command that does not ask."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        raise IbError("This is not a terminal, so nobody can be asked", hint=command)
    try:
        yes = click.confirm(question, err=True)
    except click.Abort:
        output.talk("")
        yes = False
    if not yes:
        output.talk("Cancelled.")
    return yes


def said(text: str) -> None:
    output.talk(visible(text))


def show_losses(at: paths.Place, names: list[str]) -> None:
    for loss in killing.losses(at, names):
        output.talk(visible(counts.line(loss)))


def show_closed(closed: killing.Closed, json: bool) -> None:
    if json:
        output.as_json([one._asdict() for one in closed.retired])
    for one in closed.retired:
        if not json:
            output.data(f"Closed agent: {one.agent}")
    for agent, error in closed.failed:
        output.talk(f"Error: {agent}: {error.message}.")
        if error.hint:
            output.talk(f"Hint: {error.hint}")


def say_undo(name: str, json: bool) -> None:
    if name and not json:
        output.data(f"Undo: ib undo {name}")


@click.command(short_help="End agents for good; ib undo brings them back")
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=agent_ids)
@click.option("--tree", is_flag=True, help="The agents below them go too; otherwise they get the manager above")
@force_option
@as_json
def kill(ids: tuple[str, ...], tree: bool, force: bool, json: bool) -> int:
    """End agents: their Claude, session, worktree and branch. Their papers go to .ittybitty/archive.

    Everything that is lost by it, uncommitted work included, is kept for `ib undo` for 30 days. Only where
    all of that is more than 1 GiB, big files that git ignores go earlier, the oldest first.

    \b
    Examples:
      ib kill w1
      ib kill lead --tree --force
    """
    at = arguments.place()
    caller = arguments.caller(at)
    names = killing.plan_kill(at, caller, ids, tree, said)
    if not force:
        show_losses(at, names)
        words = " ".join(quoted(name) for name in names)
        if not agreed(f"Kill {', '.join(names)}?", f"ib kill {words}{' --tree' if tree else ''} --force"):
            return 1
    if caller.kind == identity.AGENT and caller.name in names:
        return kill_apart(at, names, json)
    closed = killing.kill(at, names, caller.name, "killed", said)
    show_closed(closed, json)
    say_undo(closed.retired[0].undo if closed.retired else "", json)
    ensure_supervisor.keep_watched(at)
    return 1 if closed.failed else 0


def kill_apart(at: paths.Place, names: list[str], json: bool) -> int:
    """An agent that ends itself ends us as well: somebody else has to do it."""
    program = [sys.executable, "-P", "-m", "ibstatus", "kill", *names, "--force"]
    shell = ["/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", at.root, *program]
    supervisor_process.apart(shell, supervisor_process.log_of(at))
    if json:
        output.as_json([])
    output.talk(f"{', '.join(names)} will be closed in a moment.")
    return 0


@click.command(short_help="End all agents, or one with all below it")
@click.argument("agent", metavar="[ID]", required=False, default="", shell_complete=agent_ids)
@force_option
@as_json
def nuke(agent: str, force: bool, json: bool) -> int:
    """End every agent, and leftover sessions. Without an ID also listeners and supervisor are stopped, and messages,
    questions and the queue are put into the archive. `ib undo` brings all of it back.

    \b
    Examples:
      ib nuke
      ib nuke lead --force
    """
    at = arguments.place()
    caller = arguments.caller(at)
    what = killing.plan_nuke(at, caller, agent, said)
    if what.is_empty:
        if json:
            output.as_json({"killed": [], "sessions": 0, "failed": [], "archive": ""})
        else:
            output.data("No agents or orphaned sessions found.")
        return 0
    if not force:
        show_losses(at, what.agents)
        show_rest(what)
        command = f"ib nuke {quoted(agent)} --force" if agent else "ib nuke --force"
        if not agreed(f"Kill {counts.counted(len(what.agents), 'agent')}?", command):
            return 1
    output.talk(f"Killing {len(what.agents)} agent(s)...")
    done = killing.nuke(at, what, caller.name, said)
    publish(at, what)
    show_nuked(done, json)
    return 1 if done.closed.failed else 0


def publish(at: paths.Place, what: killing.Plan) -> None:
    """Nobody is left who would tell Claude that there is nobody left."""
    if not what.full:
        ensure_supervisor.keep_watched(at)
        return
    from ibstatus.supervisor import loop

    why = loop.once(at)
    output.warn(f"the status node was not written: {why}" if why else "")


def show_rest(what: killing.Plan) -> None:
    for name in what.sessions:
        output.talk(f"{name}: a tmux session of no agent")
    if what.mail:
        output.talk("messages, questions and undelivered notices go into the archive")
    if what.listeners:
        output.talk(f"listeners that are stopped: {', '.join(what.listeners)}")


def show_nuked(done: killing.Nuked, json: bool) -> None:
    closed = done.closed
    if json:
        killed = [one._asdict() for one in closed.retired]
        failed = [name for name, _ in closed.failed]
        output.as_json({"killed": killed, "sessions": done.sessions, "failed": failed, "archive": done.archive})
    else:
        for name, error in closed.failed:
            output.talk(f"Error: {name}: {error.message}.")
        if done.archive:
            output.talk(f"Archived to: {done.archive}/")
        sessions = f", {done.sessions} orphaned session(s) cleaned up" if done.sessions else ""
        output.data(f"Results: {len(closed.retired)} agent(s) killed{sessions}, {len(closed.failed)} failed")
    say_undo(closed.retired[0].undo if closed.retired else done.undo, json)


def undoable(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return offered([(one.name, f"{one.kind} of {one.agent}") for one in log.all_of(paths.here())], incomplete)


@click.command(short_help="Take back a kill, merge, nuke or gc")
@click.argument("name", metavar="[NAME|AGENT]", required=False, default="", shell_complete=undoable)
@click.option("-l", "--list", "listed", is_flag=True, help="Show what can be taken back, newest first")
@click.option("--keep-merge", is_flag=True, help="After a merge: only the agent comes back, the branch keeps its work")
@as_json
def undo(name: str, listed: bool, keep_merge: bool, json: bool) -> int:
    """Bring back what the last kill, merge, nuke or gc took away, or the one that is named: agents with branch,
    worktree, index, every file and their mail. They are stopped then.

    \b
    Examples:
      ib undo
      ib undo w1
      ib undo --list
    """
    at = arguments.place()
    if listed:
        return list_undo(at, json)
    group = undoing.undo(at, name, said, keep_merge)
    ensure_supervisor.keep_watched(at)
    back = [record.agent for record in group if record.agent != log.MAIL]
    if json:
        output.as_json([as_data(record) for record in group])
    else:
        output.data(f"Undid the {group[0].kind} of {', '.join(back) or 'the mail'}")
    for agent in back:
        if again := agent_meta.lost_worktree(at, agent):
            output.talk(f"{agent} is back, without its worktree, which was gone before: {again}; ib resume {agent}")
        elif agents.exists(at, agent):
            output.talk(f"{agent} is back, and stopped: ib resume {agent}")
        else:
            output.talk(f"The branch agent/{agent} is back")
    return 0


def list_undo(at: paths.Place, json: bool) -> int:
    known = log.all_of(at)
    if json:
        output.as_json([as_data(record) for record in known])
        return 0
    for record in known:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(record.at))
        size = leftovers.size(record.size)
        output.data(f"{record.name:<32}  {record.kind:<5}  {record.agent:<16}  {when}  {size:>6}")
    if not known:
        output.talk("Nothing to undo.")
    return 0


def as_data(record: log.Record) -> dict[str, object]:
    keys = ("name", "kind", "agent", "group", "by", "at", "archive", "size")
    whole = msgspec.to_builtins(msgspec.structs.asdict(record))
    return {key: whole[key] for key in keys}


@click.command(short_help="Find what is left over of agents, and remove what is certain")
@force_option
@click.option(
    "--include",
    type=click.Choice(list(leftovers.INCLUDED)),
    multiple=True,
    help="Also remove what has uncommitted files (dirty), runs (active), or is unclear (unknown)",
)
@as_json
def gc(force: bool, include: tuple[str, ...], json: bool) -> int:
    """List worktrees, branches, folders, sessions, processes and records that no agent needs any more, each with its
    state and reason. Removed, after a question, is only what is merged and clean, or merely old, which `ib undo` brings
    back; and processes that have lost their agent are ended, which nothing brings back.

    \b
    Examples:
      ib gc
      ib gc --include dirty --force
    """
    at = arguments.place()
    found = sweeping.find(at, time.time(), said)
    chosen = leftovers.removable(found, include)
    if not json:
        for one in found:
            output.data(visible(leftovers.row(one)))
    if not chosen or (json and not force):
        if json:
            output.as_json([one._asdict() for one in found])
        else:
            without = "Nothing of this is removed without --include (dirty, active or unknown)."
            output.talk("Nothing to remove." if not found else without)
        return 0
    if not force:
        total = leftovers.size(sum(one.size for one in chosen))
        again = "".join(f" --include {word}" for word in include)
        if not agreed(f"Remove {counts.counted(len(chosen), 'leftover')} ({total})?", f"ib gc{again} --force"):
            return 1
    return swept(sweeping.sweep(at, chosen, arguments.caller(at).name, said), json)


def swept(done: sweeping.Swept, json: bool) -> int:
    if json:
        output.as_json(
            {"removed": [one._asdict() for one in done.removed], "failed": dict(done.failed), "undo": done.undo}
        )
    else:
        for one in done.removed:
            output.data(f"{'Ended' if one.kind == 'process' else 'Removed'} {one.kind} {visible(one.name)}")
    for name, why in done.failed:
        output.talk(f"Error: {visible(name)}: {visible(why)}")
    say_undo(done.undo, json)
    return 1 if done.failed else 0
