"""status-watchdog."""

import click

from ibstatus.cli import arguments, output
from ibstatus.project import paths, supervisor_process
from ibstatus.supervisor import loop


@click.command("status-watchdog", short_help="Keep the status node and the snapshot true")
@click.option("--once", is_flag=True, help="Look once, publish, and end")
@click.option("--repo", metavar="PATH", default=None, help="The repository, when it is not this one")
def status_watchdog(once: bool, repo: str | None) -> int:
    """Watch the agents and keep CLAUDE.md's status node true. ib starts it by itself; one runs in each repository.

    It ends a minute after the last agent, when nobody listens either. What it does stands in
    .ittybitty/status-watchdog.log.

    \b
    Examples:
      ib status-watchdog --once
      ib status-watchdog          # in the foreground, Ctrl-C ends it
    """
    at = paths.find(repo) if repo is not None else arguments.place()
    if once:
        why = loop.once(at)
        output.warn(f"the status node was not written: {why}" if why else "")
        done = why is not None
    else:
        done = bool(loop.supervise(at))
    if done:
        return 0
    process = supervisor_process.holder(at)
    output.talk("A supervisor runs already" + (f" (PID {process.pid})." if process is not None else "."))
    return 0
