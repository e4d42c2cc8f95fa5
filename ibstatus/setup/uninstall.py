"""uninstall: take all of ib away again; the user's files get their bytes back, and what would be lost is kept aside."""

from contextlib import ExitStack
from shlex import quote

from ibstatus.agents import recover
from ibstatus.agents.undo import git_restore
from ibstatus.board import opening
from ibstatus.board.rules import validation as rule
from ibstatus.errors import IbError
from ibstatus.mail import listener_reader
from ibstatus.model.fleet import GivenBack, Left, Loss
from ibstatus.node import block, hide_from_git, node
from ibstatus.project import agent_meta as records
from ibstatus.project import (
    agents,
    founding,
    git_exclude,
    home,
    identity,
    operations,
    originals,
    paths,
    supervisor_process,
)
from ibstatus.project.rules.counts import counted
from ibstatus.setup import doctor_files, hooks, remove_home
from ibstatus.state import fleet
from ibstatus.system import disk, locks
from ibstatus.system.userfiles import displaced
from ibstatus.titles import titles

PATIENCE = 3.0
BUNDLE = "undo.bundle"


def check(place: paths.Place, caller: identity.Caller) -> None:
    """Refuse, also with --force, what would pull the ground from under somebody."""
    if caller.kind == identity.AGENT:
        raise IbError("An agent cannot uninstall ib", hint='tell the user: ib send user-claude "…"')
    if remove_home.is_link(place.home):
        raise IbError(
            f"{place.home} is a symlink, and nothing behind it will be deleted",
            hint=f"rm {quote(place.home)}, then run ib uninstall again",
        )
    founding.check_format(place)
    founding.check_path(place)
    if not disk.exists(place.home):
        home.look(place)  # cleaned away: what its copy still holds must be counted and kept
    recover.everything(place)
    cut = operations.open_ones(place)
    if cut:
        raise IbError(f"A command is at work on {', '.join(cut)}", hint="ib uninstall again when it is done")
    living = sorted({*remove_home.worktrees(place), *running(place)})
    if living:
        raise IbError(
            f"There are still agents: {', '.join(living)}",
            hint="ib merge or ib kill each of them, or all at once: ib nuke",
        )
    waiting = listener_reader.listeners(place)
    if waiting:
        pids = [pid for reader in waiting if (pid := listener_reader.holder(place, reader))]
        raise IbError(
            f"Somebody listens here: {', '.join(waiting)}",
            hint=f"kill {' '.join(pids)}" if pids else "end every ib listen first",
        )
    shared = founding.sharers(place)
    if shared:
        raise IbError(
            f"{place.home} also belongs to {', '.join(shared)}",
            hint="their messages would go too: move one of the repositories to a folder of its own",
        )


def running(place: paths.Place) -> list[str]:
    """Agents whose session is there, with or without a worktree of their own."""
    there = fleet.sessions(place, records.records(place))
    return [agent for agent, lives in there.items() if lives]


def loss(place: paths.Place) -> Loss:
    """What would go."""
    messages, questions = remove_home.open_items(place)
    saves = len(displaced.kept(node.desk_of(place)))
    return Loss(messages, questions, doctor_files.unread(place), agents.all_ids(place), saves, *on_board(place))


def on_board(place: paths.Place) -> tuple[int, int]:
    """(tasks that are not over, branches that are not merged) in the file; what is on a server stays there."""
    if not opening.has_file(place):
        return 0, 0
    try:
        board = opening.of_file(place)
        try:
            return sum(task.status not in rule.OVER for task in board.tasks()), len(board.entries(open_only=True))
        finally:
            board.close()
    except IbError:
        return 0, 0


def uninstall(place: paths.Place, caller: identity.Caller) -> Left:
    check(place, caller)
    lost = loss(place)
    with ExitStack() as held:
        if disk.exists(place.home):
            held.enter_context(locks.Lock(place.lock("setup")))  # no init meanwhile
        if not supervisor_process.stop(place):
            raise IbError("The supervisor does not end", hint=f"cat {quote(supervisor_process.pid_file_of(place))}")
        if disk.exists(place.home):
            held.enter_context(locks.Lock(place.lock(supervisor_process.LOCK)))  # none begins anew meanwhile
        settings = hooks.take_out(place)
        titles.give_back(place.root)
        page = block.take_out(place)
        still_open(place)
        noted = [*(one for one in (settings, page) if one is not None), *hide_from_git.unhide(place)]
        names = keep_refs(place)
        removed, kept, others = remove_home.remove(place, lambda: let_go(place, names))
    return Left(removed, kept, lost, [given_back(one) for one in (*noted, *others)])


def keep_refs(place: paths.Place) -> list[str]:
    """What `ib undo` needs goes into a file of its own first, which the tar file gets with all the others."""
    seat = place.git_folder
    names = git_restore.refs(seat)
    if not names or not disk.exists(place.home):
        return []
    git_restore.bundle(seat, f"{place.home}/{BUNDLE}", names)
    return names


def let_go(place: paths.Place, names: list[str]) -> list[str]:
    if not names:
        return []
    git_restore.let_go(place.git_folder, names)
    return [f"{counted(len(names), 'ref')} of ib undo, which the tar file has in .ittybitty/{BUNDLE}"]


def still_open(place: paths.Place) -> None:
    """A program that had CLAUDE.md open when we exchanged it may save it yet: its save would go with our folder."""
    waiting = displaced.settled(node.desk_of(place), PATIENCE)
    if waiting:
        raise IbError(
            f"A program still has the old {node.path_of(place)} open, and may save it: {', '.join(waiting)}",
            hint=f"close it (fuser -v {quote(waiting[0])}), then run ib uninstall again",
        )


def is_installed(place: paths.Place) -> bool:
    return remove_home.is_there(place)


def given_back(noted: originals.Touched) -> GivenBack:
    return GivenBack(noted.path, originals.differs(noted))


def remains(place: paths.Place) -> list[str]:
    """Traces of ib that are still there, as paths."""
    found = [path for path in (place.home, place.safe) if remove_home.disk_has(path)]
    return (
        found
        + git_restore.refs(place.git_folder)
        + [
            f"{git_exclude.path_of(place, name)} (a line for .ittybitty, not written by ib)"
            for name in git_exclude.BOTH
            if git_exclude.says(place, name)
        ]
    )
