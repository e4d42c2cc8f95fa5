"""doctor: look at everything that ib stands on, and say what to do.

It changes one thing: a CLAUDE.md with text of the user, which an older ib excluded from git, is visible again."""

import os
import sys
from collections.abc import Callable, Iterator
from shlex import quote

import ibstatus
from ibstatus.claude import client
from ibstatus.errors import IbError
from ibstatus.model import constants
from ibstatus.model.fleet import Finding
from ibstatus.node import hide_from_git
from ibstatus.node.block import has_block
from ibstatus.node.node import path_of
from ibstatus.project import founding, home, paths
from ibstatus.project.rules import findings
from ibstatus.setup import doctor_files, remove_home
from ibstatus.setup.doctor_checks import claude_md, cut_off, lost_worktrees, screen_rules, supervisor
from ibstatus.setup.hook_status import guards, hooks, listener, trouble
from ibstatus.system import disk
from ibstatus.system.git import run
from ibstatus.system.process import run as installed
from ibstatus.system.tmux import server

Check = Callable[[paths.Place], Iterator[Finding]]


def examine(find: Callable[[], paths.Place]) -> list[Finding]:
    """Every check that can be made; without a repository only those of the machine."""
    findings = list(machine())
    try:
        place = find()
    except IbError as error:
        return [*findings, Finding("fail", "repository", error.message, error.hint)]
    findings += made(repository, place)
    if not disk.exists(place.home):
        return [*findings, *absent(place), *made(space, place)]
    for check in CHECKS:
        findings += made(check, place)
    return findings


def made(check: Check, place: paths.Place) -> list[Finding]:
    """A check that the disk refuses is a finding, not the end of all others."""
    try:
        return list(check(place))
    except OSError as error:
        where = f" ({os.fsdecode(error.filename)})" if error.filename else ""
        return [
            Finding(
                "fail",
                check.__name__.replace("_", "-"),
                f"could not look: {error.strerror}{where}",
                "ib runs as you: who owns this?",
            )
        ]


def machine() -> Iterator[Finding]:
    yield findings.python(sys.version_info[:3])
    path = installed.path_of("ib")
    yield findings.program(path, installed.first_line([path, "--version"]) if path else "", ibstatus.__version__)
    yield findings.git(run.version())
    yield findings.tmux(server.version())
    yield findings.client(client.DEFAULT.program(), client.DEFAULT.wanted())


def repository(place: paths.Place) -> Iterator[Finding]:
    cwd = os.getcwd()
    seen = run.seen(cwd)
    if isinstance(seen, str):
        yield Finding("warn", "repository", f"git does not take this for a repository: {seen}", "git status tells more")
        return
    if place.agent:  # whatever is nested in an agent's worktree, ib takes the agent's repository
        yield findings.ok("repository", f"the worktree of agent {place.agent}; the root is {place.root}")
        return
    separate = seen.common != os.path.realpath(place.root + "/.git")
    kind = findings.kind_of(bare=seen.bare, submodule=seen.submodule, linked=seen.own != seen.common, separate=separate)
    yield findings.repository(kind, place.root, os.path.realpath(place.common), seen.common)


def absent(place: paths.Place) -> Iterator[Finding]:
    if remove_home.is_link(place.home):
        yield Finding("fail", "folder", f"{place.home} is a symlink to nowhere", f"rm {quote(place.home)}")
    elif home.is_kept(place):
        yield Finding("note", "folder", ".ittybitty is gone; its safety copy brings it back", findings.INIT)
    elif os.access(place.root, os.W_OK):
        yield Finding(
            "note", "folder", "there is no .ittybitty yet; the first command that writes makes it", findings.INIT
        )
    else:
        yield Finding(
            "fail",
            "folder",
            f"{place.root} cannot be written, so no .ittybitty can be made",
            f"ls -ld {quote(place.root)}",
        )


def folder(place: paths.Place) -> Iterator[Finding]:
    if remove_home.is_link(place.home):
        yield Finding(
            "warn",
            "folder",
            f"{place.home} is a symlink; agents behind it are not recognised",
            "move the folder itself here",
        )
    if os.path.isfile(place.home):
        yield Finding(
            "fail", "folder", f"{place.home} is a file, not a folder", f"mv {quote(place.home)} ittybitty.old"
        )
        return
    known = home.format_of(place)
    number = known.strip().decode("ascii", "replace")
    if known == home.CURRENT:
        yield findings.ok("folder", f"{place.home}, format {constants.FORMAT}")
    elif number.isdigit() and int(number) > constants.FORMAT:
        yield Finding("fail", "folder", founding.newer(number).message, founding.newer(number).hint)
    else:
        yield Finding("note", "folder", ".ittybitty is of an older tool; the next command takes it over", findings.INIT)


def works(place: paths.Place) -> Iterator[Finding]:
    why = doctor_files.writable(place)
    if why:
        yield Finding(
            "fail", "writable", f"nothing can be written in {place.home}: {why}", f"ls -ld {quote(place.home)}"
        )
        return
    yield findings.ok("writable", f"files can be made in {place.home}")
    why = doctor_files.locks_work(place)
    text = "this file system cannot lock files, and ib cannot keep order without it"
    yield (
        Finding("fail", "locks", f"{text}: {why}", "put the repository on a local disk")
        if why
        else findings.ok("locks", "files can be locked")
    )
    why = doctor_files.bells_work(place)
    text = "no FIFO can be made here, so a listener looks once a second instead"
    yield Finding("note", "bells", f"{text}: {why}") if why else findings.ok("bells", "a listener can be rung")


def permissions(place: paths.Place) -> Iterator[Finding]:
    items = doctor_files.loose(place)
    foreign = [item for item in items if item.owner != os.geteuid()]
    if foreign:
        first = foreign[0]
        text = f"{findings.plural(len(foreign), 'path')} of somebody else: {first.path} belongs to uid {first.owner}"
        yield Finding(
            "fail" if os.geteuid() else "warn", "permissions", text, f"sudo chown -R {os.geteuid()} {quote(place.home)}"
        )
    opened = [item for item in items if item not in foreign]
    reachable = any(item.path == place.home for item in opened)  # else what lies below is out of others' reach
    if reachable:
        text = f"{findings.plural(len(opened), 'path')} open to others: {opened[0].path} has mode {opened[0].mode:o}"
        yield Finding("warn", "permissions", text, f"chmod -R go-rwx {quote(place.home)}")
    if not foreign and not reachable:
        yield findings.ok("permissions", "only you can read .ittybitty")


def repo_id(place: paths.Place) -> Iterator[Finding]:
    yield findings.repo_id(*doctor_files.identity(place))


def sharing(place: paths.Place) -> Iterator[Finding]:
    yield findings.shared(place.home, founding.sharers(place))


def git_ignore(place: paths.Place) -> Iterator[Finding]:
    yield findings.kept_out(run.ignores(place.root, ".ittybitty/"), run.tracks(place.root, ".ittybitty"))


def git_node(place: paths.Place) -> Iterator[Finding]:
    if hide_from_git.show_text(place):
        yield hide_from_git.shown_again(place)
    if has_block(path_of(place)) or not disk.exists(path_of(place)):
        yield from hide_from_git.judge(place)


def copies(place: paths.Place) -> Iterator[Finding]:
    missing = [*doctor_files.unlinked(place), *doctor_files.uncopied(place)]
    if missing:
        names = ", ".join(path.rpartition("/")[2] for path in missing)
        text = f"no up-to-date safety copy of {names}; git clean would take it away"
        yield Finding("warn", "copies", text, findings.INIT)
    else:
        yield findings.ok("copies", f"what git clean may not take away is kept in {place.safe}")


def mail(place: paths.Place) -> Iterator[Finding]:
    sent, asked = doctor_files.mail(place)
    for path, loaded in ((place.messages, sent), (place.questions, asked)):
        if loaded.note:
            yield Finding(
                "fail", "mail", loaded.note, f"look at {path}; the next writer sets it aside and goes on with the copy"
            )
    waiting = doctor_files.unqueued(place)
    if waiting:
        yield Finding(
            "note", "mail", f"{', '.join(waiting)} did not reach the queue; the next ib send or ib ask sees to it"
        )
    if not (sent.note or asked.note):
        messages, pending = remove_home.open_items(place)
        yield findings.ok(
            "mail", f"{findings.plural(messages, 'message')} and {findings.plural(pending, 'question')} are open"
        )


def queue(place: paths.Place) -> Iterator[Finding]:
    facts = doctor_files.queue_facts(place)
    yield from findings.queue(facts.size, facts.total, facts.garbage, facts.torn)
    for one in doctor_files.lags(place):
        yield findings.lag(one.reader, one.behind, one.broken)


def leftovers(place: paths.Place) -> Iterator[Finding]:
    aside, temps = doctor_files.leftovers(place)
    if aside:
        yield Finding(
            "warn",
            "leftovers",
            f"set aside as broken: {', '.join(aside)}",
            "take out what you need, then remove the file",
        )
    if temps:
        yield Finding(
            "note",
            "leftovers",
            f"{findings.plural(len(temps), 'temporary file')} of killed writers: {temps[0]}",
            f"{findings.INIT} removes what is older than an hour",
        )
    if not aside and not temps:
        yield findings.ok("leftovers", "none")


def config(place: paths.Place) -> Iterator[Finding]:
    try:
        from ibstatus.project import config as settings
    except ImportError:
        return
    ask = getattr(settings, "problems", None)
    if ask is None:
        return
    problems = list(ask(place))
    for problem in problems:
        yield problem if isinstance(problem, Finding) else Finding("warn", "config", str(problem), "ib config list")
    if not problems:
        yield findings.ok("config", "the settings are valid")


def board(place: paths.Place) -> Iterator[Finding]:
    from ibstatus.setup import doctor_checks

    yield from doctor_checks.board(place)


def space(place: paths.Place) -> Iterator[Finding]:
    yield findings.space(*doctor_files.space(place.home if disk.exists(place.home) else place.root))


CHECKS: tuple[Check, ...] = (
    folder,
    works,
    permissions,
    repo_id,
    sharing,
    git_ignore,
    claude_md,
    git_node,
    supervisor,
    hooks,
    trouble,
    guards,
    copies,
    mail,
    queue,
    listener,
    leftovers,
    config,
    screen_rules,
    lost_worktrees,
    cut_off,
    board,
    space,
)
