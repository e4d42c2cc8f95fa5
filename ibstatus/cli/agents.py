"""new-agent, pause, resume, reassign; and what an agent's own processes call: attend, session-ended."""

import os
import signal
import sys
import time
from types import FrameType

import click
from click.shell_completion import CompletionItem

from ibstatus.agents import attend as attending
from ibstatus.agents import pause as pausing
from ibstatus.agents import reassign as reassigning
from ibstatus.agents import spawn, spawn_plan
from ibstatus.claude.hooks import agent_settings
from ibstatus.cli import arguments, output
from ibstatus.cli.mail import agent_ids, as_json
from ibstatus.errors import IbError, UsageError, visible
from ibstatus.project import ensure_supervisor, paths
from ibstatus.state import session_end


class Told(BaseException):
    """SIGTERM: what was begun is taken back first."""


def board_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from ibstatus.cli.board import group

    return group.ids(ctx, param, incomplete)


@click.command("new-agent", short_help="Start an agent on a task; prints its id")
@click.argument("prompt", nargs=-1)
@click.option("--name", metavar="NAME", default="", help="Its id; without one it is agent-<8 digits>")
@click.option("--worker", "--leaf", is_flag=True, help="It does the task itself and has no agents")
@click.option("--role", metavar="ROLE", default="", help="A role of .ittybitty/prompts or .claude/agents")
@click.option("--manager", "--parent", metavar="ID", default="", shell_complete=agent_ids, help="Whose agent it is")
@click.option("--model", metavar="MODEL", default="", help="sonnet, opus, haiku or a full name")
@click.option("--base", metavar="REF", default="", help="Where its branch begins; your checkout's commit otherwise")
@click.option("--no-worktree", is_flag=True, help="It works in the main checkout: nothing keeps it apart, no merge")
@click.option("--yolo", is_flag=True, help="No permission dialogs; the guard still keeps it in its worktree")
@click.option("--print", "printing", is_flag=True, help="The client answers once and ends")
@click.option("--allow-tools", metavar="RULES", multiple=True, help='Also allowed: "Bash(npm test:*),WebFetch"')
@click.option("--deny-tools", metavar="RULES", multiple=True, help="Never allowed; wins over what is")
@click.option("--prompt-file", metavar="FILE", default="", help="The task is in this file, - for standard input")
@click.option(
    "--task", "board_task", metavar="ID", default="", shell_complete=board_ids, help="Take this task of the board"
)
@as_json
def new_agent(
    prompt: tuple[str, ...],
    name: str,
    worker: bool,
    role: str,
    manager: str,
    model: str,
    base: str,
    no_worktree: bool,
    yolo: bool,
    printing: bool,
    allow_tools: tuple[str, ...],
    deny_tools: tuple[str, ...],
    prompt_file: str,
    board_task: str,
    json: bool,
) -> int:
    """Start an agent: a Claude session of its own, in a git worktree on the branch agent/ID. Prints the id alone, and
    returns at once; `ib list` shows how it goes.

    \b
    Examples:
      ib new-agent "Add dark mode to the settings page"
      ib new-agent --name login --worker "Fix the login bug"
      ib new-agent --role reviewer --base main --prompt-file task.md
      ib new-agent --task design-the-api
    """
    at = arguments.place()
    id, name, told = arguments.of_board(at, board_task, name, prompt, prompt_file)
    wanted = spawn_plan.Wanted(
        told,
        name,
        manager,
        worker,
        model,
        not no_worktree,
        yolo,
        printing,
        rules(allow_tools),
        rules(deny_tools),
        role,
        base,
        id,
    )

    def announce(agent: str) -> None:
        if json:
            output.as_json({"id": agent})
        else:
            click.echo(agent)
        sys.stdout.flush()

    with taken_back_when_told():
        spawn.spawn(at, arguments.caller(at), wanted, os.getcwd(), announce, output.talk)
    ensure_supervisor.keep_watched(at)
    return 0


def rules(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(rule for text in given for rule in agent_settings.split(text))


class taken_back_when_told:
    """SIGTERM and SIGHUP end the command as an error would: what it has made is taken back."""

    def __enter__(self) -> None:
        def stop(number: int, frame: FrameType | None) -> None:
            raise Told

        self.before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)
        if isinstance(error, Told):
            raise click.exceptions.Exit(130)


@click.command(short_help="End an agent's session; its work and conversation stay")
@click.argument("agent", shell_complete=agent_ids)
@as_json
def pause(agent: str, json: bool) -> int:
    """End the session of an agent. Its worktree, branch and conversation stay; `ib resume` goes on with it.

    \b
    Example:
      ib pause login
    """
    at = arguments.place()
    paused = pausing.pause(at, arguments.caller(at), agent, output.talk)
    ensure_supervisor.keep_watched(at)
    if json:
        output.as_json({"id": paused, "state": "stopped"})
    else:
        output.data(f"Agent paused. Use 'ib resume {paused}' to continue.")
    return 0


@click.command(short_help="Go on with agents whose session has ended")
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=agent_ids)
@click.option(
    "--all", "everybody", is_flag=True, help="Whoever a crash or a reboot has cut off, after a look at the plan"
)
@click.option("--dry-run", is_flag=True, help="With --all: only show the plan")
@click.option("-f", "--force", is_flag=True, help="With --all: do not ask")
@as_json
def resume(ids: tuple[str, ...], everybody: bool, dry_run: bool, force: bool, json: bool) -> int:
    """Start the session of a stopped agent again, where its conversation was; it is told to go on.

    With --all everybody who was cut off, managers first: who was at work is told to go on, who waited waits again
    without a word, and who was paused, is complete or has ended by itself is left alone.

    \b
    Examples:
      ib resume login
      ib resume --all --dry-run
    """
    check_resumed(ids, everybody, "--dry-run" if dry_run else "--force" if force else "")
    at = arguments.place()
    if everybody:
        return resume_all(at, dry_run, force, json)
    caller = arguments.caller(at)
    resumed: list[str] = []
    failures: list[IbError] = []
    for one in ids:
        try:
            resumed.append(pausing.resume(at, caller, one, output.talk))
        except IbError as error:
            if len(ids) == 1:
                raise
            failures.append(error)
    ensure_supervisor.keep_watched(at)
    show_resumed(resumed, json, len(ids) == 1)
    for failure in failures:
        output.fail(failure)
    return 1 if failures else 0


def check_resumed(ids: tuple[str, ...], everybody: bool, option: str) -> None:
    if everybody and ids:
        raise UsageError(
            "Name the agents or say --all, not both: that is everybody who was cut off", hint=f"ib resume {ids[0]}"
        )
    if option and ids:
        raise UsageError(
            f"{option} goes with --all only: leave it out, or say --all and no id", hint="ib resume --all --dry-run"
        )
    if not everybody and not ids:
        raise UsageError("Name the agents to resume, or say --all", hint="ib resume --all --dry-run")


def show_resumed(resumed: list[str], json: bool, single: bool) -> None:
    if json:
        found = [{"id": one, "state": "creating"} for one in resumed]
        output.as_json(found[0] if single else found)
    for one in resumed:
        if not json:
            output.data(f"Agent resumed: {one}")
        output.talk(f"Use 'ib look {one}' to view output")


def resume_all(at: paths.Place, dry_run: bool, force: bool, json: bool) -> int:
    """The plan, a yes, and it is carried out."""
    from ibstatus.agents import resume_all as resuming
    from ibstatus.agents.rules import resume_plan
    from ibstatus.cli.remove import agreed

    wanted = resuming.plan(at, arguments.caller(at), output.talk)
    if not json:
        for line in resume_plan.rows(wanted.steps, wanted.left, not sys.stdout.isatty()):
            output.data(visible(line))
    done = resuming.Resumed([], [], [])
    if not wanted.steps:
        output.talk("Nobody was cut off.")
    elif not dry_run:
        count = "1 agent" if len(wanted.steps) == 1 else f"{len(wanted.steps)} agents"
        if not force and not agreed(f"Resume {count}?", "ib resume --all --force"):
            return 1
        done = resuming.carry_out(at, wanted, output.talk)
        ensure_supervisor.keep_watched(at)
    for one in done.left:
        output.talk(f"{one.id} is left alone: {one.why}")
    for agent, error in done.failed:
        output.talk(f"Error: {agent}: {visible(error.message)}.")
        output.talk(f"Hint: {visible(error.hint)}")
    if json:
        output.as_json(
            {
                "plan": [one._asdict() for one in wanted.steps],
                "left": [one._asdict() for one in (*wanted.left, *done.left)],
                "resumed": done.resumed,
                "failed": {agent: error.message for agent, error in done.failed},
            }
        )
    return 1 if done.failed else 0


@click.command(short_help="Give an agent another manager")
@click.argument("agent", shell_complete=agent_ids)
@click.argument("manager", required=False, default="", shell_complete=agent_ids)
@click.option("--none", "nobody", is_flag=True, help="It reports to the user")
@as_json
def reassign(agent: str, manager: str, nobody: bool, json: bool) -> int:
    """Put an agent under another manager, or under none. All three are told. Its branch stays where it is.

    \b
    Examples:
      ib reassign login lead
      ib reassign login --none
    """
    if nobody == bool(manager):
        raise UsageError("Name the new manager, or say --none", hint="ib reassign login lead")
    at = arguments.place()
    done = reassigning.reassign(at, arguments.caller(at), agent, manager, time.time())
    ensure_supervisor.keep_watched(at)
    if json:
        output.as_json({"id": done.agent, "from": done.before or None, "to": done.after or None})
    elif done.note:
        output.talk(done.note + ".")
    else:
        output.data(f"Reassigned {done.agent} from {done.before or 'root'} to {done.after or 'root'}")
    return 0


@click.command(hidden=True)
@click.argument("agent")
@click.option("--repo", required=True)
@click.option("--resumed", is_flag=True)
def attend(agent: str, repo: str, resumed: bool) -> int:
    """Stay beside a new session until its client is up. Run by new-agent and resume."""
    attending.attend(paths.find(repo), agent, resumed=resumed)
    return 0


@click.command("session-ended", hidden=True)
@click.argument("agent")
@click.argument("code", type=int)
@click.option("--repo", required=True)
def session_ended(agent: str, code: int, repo: str) -> int:
    """Write down that a client has ended. Run by an agent's start.sh."""
    session_end.note(paths.find(repo), agent, code)
    return 0
