"""kill: end agents for good. What they leave is kept for `ib undo`."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ibstatus.agents import bereaved, recover, retire
from ibstatus.board import queued_branch
from ibstatus.claude import sessions
from ibstatus.errors import IbError
from ibstatus.mail import inbox
from ibstatus.project import agent_worktree, authority, home, identity, operations, paths
from ibstatus.project.rules import authority as family
from ibstatus.project.rules import counts
from ibstatus.system import disk
from ibstatus.system.git import worktrees

Say = Callable[[str], None]


class Closed(NamedTuple):
    """`failed`: agent and why, of those that are still there."""

    retired: list[retire.Retired]
    failed: list[tuple[str, IbError]]


def plan(place: paths.Place, caller: identity.Caller, given: Iterable[str], tree: bool, say: Say) -> list[str]:
    """Whom it would be, in this order; with `tree` everybody below them too, deepest first."""
    home.look(place)
    recover.everything(place, say)
    named = [authority.resolved(place, caller, one, "kill") for one in given]
    managers = authority.managers(place)
    found = [name for one in named for name in ([*family.below(one, managers), one] if tree else [one])]
    return list(dict.fromkeys(found))


def losses(place: paths.Place, names: Sequence[str]) -> list[counts.Loss]:
    managers = authority.managers(place)
    branches = [retire.branch_of(name) for name in names]
    queued = queued_branch.queued(place)
    return [
        loss(place, name, managers.get(name, ""), names, branches)._replace(
            entry=queued[name].id if name in queued else 0
        )
        for name in names
    ]


def loss(place: paths.Place, agent: str, manager: str, going: Sequence[str], branches: Sequence[str]) -> counts.Loss:
    repo = place.agent_dir(agent) + "/repo"
    has_tree = disk.exists(repo + "/.git")
    commits = [
        worktrees.tip(place.git_folder, retire.branch_of(agent)),
        worktrees.head(repo) if has_tree else "",
    ]
    return counts.Loss(
        agent=agent,
        files=worktrees.uncommitted(repo) if has_tree else None if disk.exists(repo) else [],
        commits=worktrees.only_here(place.git_folder, commits, branches),
        unread=len(inbox.unread(place, agent).ids),
        children=[name for name in bereaved.children(place, agent) if name not in going],
        manager=manager,
        running=sessions.of(place, agent).pane() is not None,
        questions=len(bereaved.open_questions(place, agent)),
        lost=agent_worktree.lost_worktree(place, agent) != "",
    )


def kill(place: paths.Place, names: Sequence[str], by: str, verb: str, say: Say, group: str = "") -> Closed:
    """One after the other; one that cannot be closed does not keep the others. Children first: nobody is given, and
    told of, another manager on its own way out."""
    retired: list[retire.Retired] = []
    failed: list[tuple[str, IbError]] = []
    managers = authority.managers(place)
    for name in sorted(names, key=lambda name: -len(list(family.above(name, managers)))):
        try:
            done = one(place, name, by, verb, group, named(name, say) if len(names) > 1 else say)
            group = group or done.undo
            retired.append(done)
        except IbError as error:
            failed.append((name, error))
    return Closed(retired, failed)


def named(name: str, say: Say) -> Say:
    """Of several nobody could tell whom a line is about."""
    return lambda text: say(text if text.startswith(f"{name}: ") else f"{name}: {text}")


def one(place: paths.Place, name: str, by: str, verb: str, group: str, say: Say) -> retire.Retired:
    kind = {"killed": "kill", "nuked": "nuke"}.get(verb, "gc")
    facts = {"by": by, "verb": verb, "group": group, "as": kind}
    with operations.begin_if(place, "kill", name, lambda: check(place, name), **facts) as op:
        done = retire.retire(op, say)
        op.done()
    return done


def check(place: paths.Place, name: str) -> None:
    """Before the first step: where tmux hangs nobody knows what still runs."""
    if not is_anything(place, name):
        raise IbError(f"{name} is gone already", hint="ib undo --list")
    try:
        sessions.of(place, name).pane()
    except IbError as error:
        raise IbError(f"{error.message}; nothing was done to {name}", hint=error.hint, cause=error.cause) from error


def is_anything(place: paths.Place, name: str) -> bool:
    """Asked once more when nobody else can be at work on it: another command may have been quicker."""
    branch, folder = retire.branch_of(name), place.agent_dir(name)
    known = worktrees.tip(place.git_folder, branch) or worktrees.registered(place.common, folder + "/repo")
    return disk.exists(folder) or bool(known)
