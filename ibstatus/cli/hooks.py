"""ib hooks: install, uninstall, status; and the hooks themselves, which Claude Code runs."""

import click

from ibstatus.agents import settings as written
from ibstatus.claude.hooks.events import INTERCEPT, MAIN
from ibstatus.cli import arguments, output
from ibstatus.cli.mail import as_json
from ibstatus.errors import UsageError
from ibstatus.hooks import entry
from ibstatus.project import ensure_supervisor
from ibstatus.setup import hook_status
from ibstatus.setup import hooks as ops
from ibstatus.system import jsonl

ALLOW = """\
Claude asks you before it runs ib, and a session that nobody watches would wait there. To allow it what it needs, add to
permissions.allow: "Bash(ib messages:*)", "Bash(ib questions:*)", "Bash(ib answer:*)", "Bash(ib acknowledge:*)",
"Bash(ib status:*)", "Bash(ib list:*)", "Bash(ib tree:*)", "Bash(ib look:*)", "Bash(ib diff:*)", "Bash(ib why:*)",
"Bash(ib send:*)", "Bash(ib resume:*)", "Bash(ib listen:*)"."""


class Hooks(click.Group):
    """The commands, and every hook by its name."""

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return super().get_command(ctx, name) or (hook(name) if name in entry.HOOKS else None)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            error = output.unknown_command(args[0], [*self.commands, *entry.HOOKS])
            hint = error.hint.replace("ib ", "ib hooks ", 1)
            raise UsageError(f"There is no command 'hooks {jsonl.clean(args[0])}'", hint=hint)
        return super().resolve_command(ctx, args)


def hook(name: str) -> click.Command:
    """Event on stdin, answer on stdout, as in a settings file that somebody wrote by hand."""

    @click.command(name, hidden=True, add_help_option=False, context_settings={"ignore_unknown_options": True})
    @click.argument("words", nargs=-1, type=click.UNPROCESSED)
    def run(words: tuple[str, ...]) -> int:
        agent = ops.agent_here()  # by where it stands: an agent must not speak for another
        return entry.run([] if ops.runs_anyway(name) else [name, *((agent,) if agent else words)])

    return run


@click.group(cls=Hooks, short_help="What Claude Code tells ib, and ib tells Claude: install, uninstall, status")
def hooks() -> None:
    """Claude Code runs hooks at its events. Those of ib tell your Claude what its agents do and wake it with news.

    They go into .claude/settings.local.json of the main checkout. Nothing else in that file is changed, and
    uninstall gives it back byte for byte. If ib is moved or removed, your session goes on as if there were none; the
    guard of an agent then denies everything.

    \b
    Examples:
      ib hooks install
      ib hooks status
    """


@hooks.command(short_help="Put them into .claude/settings.local.json")
@as_json
def install(json: bool) -> int:
    """Put the hooks into .claude/settings.local.json, or bring those of another version up to date.

    A session that is running takes them in by itself.
    """
    return put_in(MAIN, "Hooks", json)


@hooks.command(short_help="Take them out again")
@as_json
def uninstall(json: bool) -> int:
    """Take the hooks out of .claude/settings.local.json; what else is in there stays as it is."""
    return take_out(MAIN, "Hooks", json)


@hooks.command("install-intercept", short_help="Have Claude use agents of ib instead of its own subagents")
@as_json
def install_intercept(json: bool) -> int:
    """Put the hook in that turns a task for a subagent of Claude Code into one for an agent of ib."""
    return put_in(INTERCEPT, "Intercept hook", json)


@hooks.command("uninstall-intercept", short_help="Let Claude use its own subagents again")
@as_json
def uninstall_intercept(json: bool) -> int:
    """Take the hook out that turns a task for a subagent into one for an agent."""
    return take_out(INTERCEPT, "Intercept hook", json)


def put_in(kind: str, what: str, json: bool) -> int:
    at = arguments.place()
    done = ops.install(at, arguments.caller(at), kind)
    ensure_supervisor.keep_agents_watched(at)
    for note in done.notes:
        output.warn(note)
    if json:
        output.as_json(done)
    else:
        output.data(f"{what} installed to {done.file}" if done.changed else f"{what} already installed")
        if done.changed and done.kept_out_by:
            output.data(f"Kept out of git by {done.kept_out_by}")
        if done.changed and kind == MAIN:
            output.talk(ALLOW)
    return 0


def take_out(kind: str, what: str, json: bool) -> int:
    at = arguments.place()
    done = ops.uninstall(at, arguments.caller(at), kind)
    for note in done.notes:
        output.warn(note)
    if json:
        output.as_json(done)
    elif not done.found:
        output.data("No settings file found, nothing to uninstall")
    elif not done.changed:
        output.data(f"{what} not installed in {done.file}")
    else:
        output.data(
            f"{what} uninstalled from {done.file}" + ("; it was empty and is gone" if done.removed_file else "")
        )
    return 0


@hooks.command("agent-settings", short_help="Write an agent's settings, with its guard, and print their path")
@click.argument("agent", metavar="AGENT")
def agent_settings(agent: str) -> int:
    """Write the settings of an agent that was made by hand: its guard, its hooks, the rules of its role. Prints the
    file's path, for the client to be started with.

    \b
    Example, in the agent's worktree:
      claude --settings "$(ib hooks agent-settings lead)"
    """
    output.data(written.write(arguments.place(), agent))
    return 0


@hooks.command(short_help="installed, partial, outdated or not-installed")
@click.option("--intercept", is_flag=True, help="Of the hook that intercepts tasks")
@as_json
def status(intercept: bool, json: bool) -> int:
    """Print one word: installed, partial, outdated (of another ib) or not-installed. --json tells of every event."""
    at = arguments.place()
    known = hook_status.status(at)
    if json:
        output.as_json(known)
        return 0
    word = known.intercept if intercept else known.status
    output.data(word)
    if known.problem:
        output.warn(f"{known.file} cannot be read: {known.problem}")
    if known.off_in:
        output.warn(f"{known.off_in} has disableAllHooks, so none of them runs")
    if known.plugin and word != "installed":
        output.talk("The plugin is switched on and runs what is not installed here.")
    elif word in ("partial", "outdated"):
        output.talk(f"Hint: {hook_status.INSTALL}{'-intercept' if intercept else ''}")
    return 0
