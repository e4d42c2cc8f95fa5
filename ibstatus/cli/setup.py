"""init, uninstall, doctor, completion.

status-watchdog.
"""

import sys
from shlex import quote

import click
import msgspec
from click.shell_completion import ShellComplete, get_completion_class

from ibstatus.cli import arguments, output
from ibstatus.cli.mail import as_json
from ibstatus.errors import IbError, UsageError
from ibstatus.model.fleet import Finding, Left
from ibstatus.project import ensure_supervisor, paths, supervisor_process
from ibstatus.project.rules import findings as health
from ibstatus.setup import doctor as examination
from ibstatus.setup import init as founding
from ibstatus.setup import uninstall as leaving
from ibstatus.supervisor import loop

COLOURS = {"ok": "green", "note": "cyan", "warn": "yellow", "fail": "red"}
SHELLS = ("bash", "zsh", "fish")
INSTALL = {
    "bash": "# To install: D=~/.local/share/bash-completion/completions; mkdir -p $D && ib completion bash > $D/ib",
    "zsh": '# To install: ib completion zsh > "${fpath[1]}/_ib", then start a new zsh',
    "fish": "# To install: set D ~/.config/fish/completions; mkdir -p $D && ib completion fish > $D/ib.fish",
}


@click.command(short_help="Make .ittybitty here, or put right what is there")
@click.option(
    "--gitignore", is_flag=True, help="Keep it out of git by the tracked .gitignore instead of .git/info/exclude"
)
@click.option("--moved", is_flag=True, help="Keep the agents: the repository was at another path before")
@click.option("--copied", is_flag=True, help="Give this copy a name of its own, and leave the other's agents alone")
@as_json
def init(gitignore: bool, moved: bool, copied: bool, json: bool) -> int:
    """Make .ittybitty in the root of the repository, and the <ittybitty> block in CLAUDE.md, out of git's sight.

    Once more is fine: what is missing is made, what is there stays. Without the block everything else works, too:
    ib config set status_node.mode off.

    \b
    Example:
      ib init
    """
    if moved and copied:
        raise UsageError("A repository is moved or copied, not both", hint="ib init --moved")
    at = arguments.place()
    done = founding.init(at, arguments.caller(at), gitignore, "moved" if moved else "copied" if copied else "")
    ensure_supervisor.keep_watched(at)
    for note in done.notes:
        output.warn(note)
    if json:
        output.as_json(done)
        return 0
    output.data(f"{'Made' if done.made else 'Already there:'} {done.home} (repo-id {done.repo_id})")
    if done.kept_out_by:
        output.data(f"Kept out of git by {done.kept_out_by}")
    if done.claude_md:
        output.data(f"Claude learns of its agents from the <ittybitty> block in {done.claude_md}")
    if done.hidden:
        output.data(done.hidden[0].upper() + done.hidden[1:])
    return 0


@click.command(short_help="Take away all that ib made here")
@click.option("--verify", is_flag=True, help="Prove that every file ib had touched has its original bytes again")
@click.option("-f", "--force", is_flag=True, help="Do not ask")
@as_json
def uninstall(verify: bool, force: bool, json: bool) -> int:
    """Take away .ittybitty, its safety copy under the git directory, the block in CLAUDE.md, the filter in git's config
    and attributes, and our lines in .git/info/exclude or .gitignore.

    Everything in .ittybitty is put into a tar file in the folder for temporary files first; the command that
    brings it back is printed. Your own .ittybitty.json stays.

    \b
    Example:
      ib uninstall --verify
    """
    at = arguments.place()
    caller = arguments.caller(at)
    leaving.check(at, caller)
    if not leaving.is_installed(at):
        return nothing_here(at, verify, json)
    if not force:
        agreed(at, verify)
    left = leaving.uninstall(at, caller)
    remains = leaving.remains(at) if verify else []
    bad = verify and (bool(remains) or any(file.differs for file in left.files))
    if json:
        output.as_json({**msgspec.to_builtins(left), "remains": remains})
    else:
        show_left(at, left, verify)
        show_remains(remains)
    return 1 if bad else 0


def nothing_here(at: paths.Place, verify: bool, json: bool) -> int:
    remains = leaving.remains(at) if verify else []
    if json:
        output.as_json({"removed": [], "kept_in": "", "files": [], "remains": remains})
    else:
        output.data("Nothing of ib is here")
        show_remains(remains)
    return 1 if remains else 0


def agreed(at: paths.Place, verify: bool) -> None:
    """Say what would be lost; a `y` on a terminal goes on, everything else does not."""
    parts = leaving.loss(at).parts()
    output.talk(f"This removes {at.home}" + (f" with {', '.join(parts)}." if parts else "; nothing unread is in it."))
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        hint = "ib uninstall --force" + (" --verify" if verify else "")
        raise IbError("Nothing was removed: nobody is here to agree", hint=hint)
    if not click.confirm("Go on?", err=True):
        raise IbError("Nothing was removed")


def show_left(at: paths.Place, left: Left, verify: bool) -> None:
    for path in left.removed:
        output.data(f"Removed {path}")
    for file in left.files:
        if file.differs:
            output.data(f"Took what was ours out of {file.path}; it is not as before: {file.differs}")
        else:
            output.data(f"Gave back {file.path}" + (": its original bytes" if verify else ""))
    if left.kept_in:
        output.data(f"Kept in {left.kept_in}")
        output.talk(f"To have it back: tar -xzf {quote(left.kept_in)} -C {quote(at.root)} && ib init")


def show_remains(remains: list[str]) -> None:
    for path in remains:
        output.data(f"Still there: {path}")


@click.command(short_help="Look whether everything works, and say what to do")
@click.argument("what", type=click.Choice(("titles",)), required=False)
@as_json
def doctor(what: str | None, json: bool) -> int:
    """Check the machine, the repository and .ittybitty, a line a check: ok, note, warn or fail. Changes
    nothing, except that a CLAUDE.md with text of yours that an older ib excluded from git is visible to git again.

    With `titles`: how wide each glyph of the window titles is in your tmux and, outside of tmux, in this terminal;
    and which set of glyphs to use.

    Exit 1 when a check fails.

    \b
    Examples:
      ib doctor
      ib doctor titles
    """
    if what == "titles":
        from ibstatus.cli import titles

        return titles.widths(json)
    findings = examination.examine(paths.here)
    if json:
        output.as_json(findings)
    else:
        for finding in findings:
            show(finding)
    return 1 if health.worst(findings) == "fail" else 0


def show(finding: Finding) -> None:
    level = click.style(f"{finding.level:<5}", fg=COLOURS[finding.level])
    output.data(f"{level}{finding.subject:<12} {one_line(finding.text)}")
    if finding.hint:
        output.data(f"{'':<18}→ {one_line(finding.hint)}")


def one_line(text: str) -> str:
    """A path may hold anything; a check is a line."""
    return "".join([letter if letter.isprintable() else repr(letter)[1:-1] for letter in text])


@click.command(short_help="Print the completion script of a shell")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> int:
    """Print the script that lets a shell complete commands, options and ids. Its first comment says where to put it.

    \b
    Example:
      ib completion bash
    """
    from ibstatus.cli import app

    kind = get_completion_class(shell)
    if kind is None:
        raise IbError(f"There is no completion for {shell}")
    text = ShellComplete.source(kind(app.ib, {}, "ib", "_IB_COMPLETE")).strip("\n")
    first, _, rest = text.partition("\n")
    lines = [first, INSTALL[shell], rest] if first.startswith("#compdef") else [INSTALL[shell], text]
    output.data("\n".join(lines))
    return 0


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
