"""doctor: look at everything that ib stands on, and say what to do.

It changes one thing: a CLAUDE.md with text of the user, which an older ib excluded from git, is visible again."""

import os
import sys
from collections.abc import Callable, Iterator
from shlex import quote

import ibstatus
from ibstatus.drivers import clients, git, installed, tmux
from ibstatus.errors import IbError
from ibstatus.model import words
from ibstatus.model.records import Finding
from ibstatus.ops import hide
from ibstatus.ops.block import has_block
from ibstatus.ops.fleet_health import cut_off, lost_worktrees, screen_rules
from ibstatus.ops.hook_status import guards, hooks, listener, trouble
from ibstatus.ops.node import path_of
from ibstatus.ops.node_health import claude_md, supervisor
from ibstatus.rules import health
from ibstatus.store import checkup, disk, founding, home, places, removal

Check = Callable[[places.Place], Iterator[Finding]]


def examine(find: Callable[[], places.Place]) -> list[Finding]:
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


def made(check: Check, place: places.Place) -> list[Finding]:
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
    yield health.python(sys.version_info[:3])
    path = installed.path_of("ib")
    yield health.program(path, installed.first_line([path, "--version"]) if path else "", ibstatus.__version__)
    yield health.git(git.version())
    yield health.tmux(tmux.version())
    yield health.client(clients.DEFAULT.program(), clients.DEFAULT.wanted())


def repository(place: places.Place) -> Iterator[Finding]:
    cwd = os.getcwd()
    seen = git.seen(cwd)
    if isinstance(seen, str):
        yield Finding("warn", "repository", f"git does not take this for a repository: {seen}", "git status tells more")
        return
    if place.agent:  # whatever is nested in an agent's worktree, ib takes the agent's repository
        yield health.ok("repository", f"the worktree of agent {place.agent}; the root is {place.root}")
        return
    separate = seen.common != os.path.realpath(place.root + "/.git")
    kind = health.kind_of(bare=seen.bare, submodule=seen.submodule, linked=seen.own != seen.common, separate=separate)
    yield health.repository(kind, place.root, os.path.realpath(place.common), seen.common)


def absent(place: places.Place) -> Iterator[Finding]:
    if removal.is_link(place.home):
        yield Finding("fail", "folder", f"{place.home} is a symlink to nowhere", f"rm {quote(place.home)}")
    elif home.is_kept(place):
        yield Finding("note", "folder", ".ittybitty is gone; its safety copy brings it back", health.INIT)
    elif os.access(place.root, os.W_OK):
        yield Finding(
            "note", "folder", "there is no .ittybitty yet; the first command that writes makes it", health.INIT
        )
    else:
        yield Finding(
            "fail",
            "folder",
            f"{place.root} cannot be written, so no .ittybitty can be made",
            f"ls -ld {quote(place.root)}",
        )


def folder(place: places.Place) -> Iterator[Finding]:
    if removal.is_link(place.home):
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
        yield health.ok("folder", f"{place.home}, format {words.FORMAT}")
    elif number.isdigit() and int(number) > words.FORMAT:
        yield Finding("fail", "folder", founding.newer(number).message, founding.newer(number).hint)
    else:
        yield Finding("note", "folder", ".ittybitty is of an older tool; the next command takes it over", health.INIT)


def works(place: places.Place) -> Iterator[Finding]:
    why = checkup.writable(place)
    if why:
        yield Finding(
            "fail", "writable", f"nothing can be written in {place.home}: {why}", f"ls -ld {quote(place.home)}"
        )
        return
    yield health.ok("writable", f"files can be made in {place.home}")
    why = checkup.locks_work(place)
    text = "this file system cannot lock files, and ib cannot keep order without it"
    yield (
        Finding("fail", "locks", f"{text}: {why}", "put the repository on a local disk")
        if why
        else health.ok("locks", "files can be locked")
    )
    why = checkup.bells_work(place)
    text = "no FIFO can be made here, so a listener looks once a second instead"
    yield Finding("note", "bells", f"{text}: {why}") if why else health.ok("bells", "a listener can be rung")


def permissions(place: places.Place) -> Iterator[Finding]:
    items = checkup.loose(place)
    foreign = [item for item in items if item.owner != os.geteuid()]
    if foreign:
        first = foreign[0]
        text = f"{health.plural(len(foreign), 'path')} of somebody else: {first.path} belongs to uid {first.owner}"
        yield Finding(
            "fail" if os.geteuid() else "warn", "permissions", text, f"sudo chown -R {os.geteuid()} {quote(place.home)}"
        )
    opened = [item for item in items if item not in foreign]
    reachable = any(item.path == place.home for item in opened)  # else what lies below is out of others' reach
    if reachable:
        text = f"{health.plural(len(opened), 'path')} open to others: {opened[0].path} has mode {opened[0].mode:o}"
        yield Finding("warn", "permissions", text, f"chmod -R go-rwx {quote(place.home)}")
    if not foreign and not reachable:
        yield health.ok("permissions", "only you can read .ittybitty")


def repo_id(place: places.Place) -> Iterator[Finding]:
    yield health.repo_id(*checkup.identity(place))


def sharing(place: places.Place) -> Iterator[Finding]:
    yield health.shared(place.home, founding.sharers(place))


def git_ignore(place: places.Place) -> Iterator[Finding]:
    yield health.kept_out(git.ignores(place.root, ".ittybitty/"), git.tracks(place.root, ".ittybitty"))


def git_node(place: places.Place) -> Iterator[Finding]:
    if hide.show_text(place):
        yield hide.shown_again(place)
    if has_block(path_of(place)) or not disk.exists(path_of(place)):
        yield from hide.judge(place)


def copies(place: places.Place) -> Iterator[Finding]:
    missing = [*checkup.unlinked(place), *checkup.uncopied(place)]
    if missing:
        names = ", ".join(path.rpartition("/")[2] for path in missing)
        text = f"no up-to-date safety copy of {names}; git clean would take it away"
        yield Finding("warn", "copies", text, health.INIT)
    else:
        yield health.ok("copies", f"what git clean may not take away is kept in {place.safe}")


def mail(place: places.Place) -> Iterator[Finding]:
    sent, asked = checkup.mail(place)
    for path, loaded in ((place.messages, sent), (place.questions, asked)):
        if loaded.note:
            yield Finding(
                "fail", "mail", loaded.note, f"look at {path}; the next writer sets it aside and goes on with the copy"
            )
    waiting = checkup.unqueued(place)
    if waiting:
        yield Finding(
            "note", "mail", f"{', '.join(waiting)} did not reach the queue; the next ib send or ib ask sees to it"
        )
    if not (sent.note or asked.note):
        messages, pending = removal.open_items(place)
        yield health.ok(
            "mail", f"{health.plural(messages, 'message')} and {health.plural(pending, 'question')} are open"
        )


def queue(place: places.Place) -> Iterator[Finding]:
    facts = checkup.queue_facts(place)
    yield from health.queue(facts.size, facts.total, facts.garbage, facts.torn)
    for one in checkup.lags(place):
        yield health.lag(one.reader, one.behind, one.broken)


def leftovers(place: places.Place) -> Iterator[Finding]:
    aside, temps = checkup.leftovers(place)
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
            f"{health.plural(len(temps), 'temporary file')} of killed writers: {temps[0]}",
            f"{health.INIT} removes what is older than an hour",
        )
    if not aside and not temps:
        yield health.ok("leftovers", "none")


def config(place: places.Place) -> Iterator[Finding]:
    try:
        from ibstatus.store import config as settings
    except ImportError:
        return
    ask = getattr(settings, "problems", None)
    if ask is None:
        return
    problems = list(ask(place))
    for problem in problems:
        yield problem if isinstance(problem, Finding) else Finding("warn", "config", str(problem), "ib config list")
    if not problems:
        yield health.ok("config", "the settings are valid")


def board(place: places.Place) -> Iterator[Finding]:
    from ibstatus.ops.board import board_health

    yield from board_health.board(place)


def space(place: places.Place) -> Iterator[Finding]:
    yield health.space(*checkup.space(place.home if disk.exists(place.home) else place.root))


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
