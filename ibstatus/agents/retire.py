"""The end of an agent: stopped, kept for undo, archived, taken away. Every step can be done twice.

What happens is noted in the operation before it is done: whoever finds one that was cut off calls `recover`.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from ibstatus.agents import archive, reassign, session
from ibstatus.agents.undo import git_snapshot, log, mail
from ibstatus.errors import IbError
from ibstatus.project import agent_meta, authority, logs, operations, paths
from ibstatus.system import disk, folders
from ibstatus.system.git import checkouts, worktrees

Say = Callable[[str], None]


class Retired(NamedTuple):
    """`archive`: a folder, `undo`: the name for `ib undo`, `children`: who has another manager now."""

    agent: str
    archive: str
    undo: str
    children: list[str]


def branch_of(agent: str) -> str:
    return f"agent/{agent}"


def retire(op: operations.Operation, say: Say) -> Retired:
    """Inside an operation "kill" or "merge"; the caller calls `done`. `op.facts` may have by, group, verb and merge."""
    place, agent = op.place, op.agent
    prepare(op)
    archive.take_screen(op)
    if op.facts.get("verb"):
        session.told(place, agent, f"Agent {op.facts['verb']}", say)
    session.stop(place, agent, say)
    settle_task(op, say)
    snapshot = save(op, say)
    reassign.settle(place, op.facts["questions"], agent)
    note_children(op)
    hand_on(op, say)
    if op.facts["branch"]:
        session.told(place, agent, f"Deleted branch {op.facts['branch']}", say)
    archived = archive.keep(op)
    take_away(op, snapshot, say)
    finish(op, archived, say)
    if archived:
        say(f"Archived to: {archived}/")
    return Retired(agent, archived, str(op.facts["undo"]), list(op.facts["children"]))


def settle_task(op: operations.Operation, say: Say) -> None:
    """Merged work is done, any other task is for somebody else. A board that cannot be reached has the lease."""
    if not agent_meta.read(op.place, op.agent).keys() & {agent_meta.TASK, agent_meta.CLAIMS}:
        return
    from ibstatus.board import agent_tasks as boarders

    try:
        for line in boarders.left(op.place, op.agent, op.kind == "merge"):
            say(line)
    except IbError as error:
        say(f"Its task stays claimed for a while: {error.message}")


def prepare(op: operations.Operation) -> None:
    """The names under which it is kept, so that a second try goes on with the same."""
    if "undo" not in op.facts:
        now = time.time()
        name = log.reserve(op.place, op.agent, now)
        op.note(undo=name, archive=archive.name_for(op.place, op.agent, now), group=op.facts.get("group") or name)


def save(op: operations.Operation, say: Say) -> git_snapshot.Snapshot | None:
    """Everything that git can hold goes under the ref; then it is written down what there is to bring back."""
    if "saved" in op.facts:
        return None
    place, agent = op.place, op.agent
    repo = place.agent_dir(agent) + "/repo"
    admin = worktrees.admin_of(place.common, repo)
    tip = worktrees.tip(place.git_folder, branch_of(agent))
    ref, message = log.ref_of(str(op.facts["undo"])), f"ib undo: {agent} before {op.facts.get('as') or op.kind}"
    snapshot = snapped(repo, admin, ref, tip, message, say) if admin else None
    admin = admin or worktrees.registered(place.common, repo)
    if snapshot is None:
        seat = place.git_folder
        named = worktrees.named_commits(seat, admin) if admin else []
        git_snapshot.hold_commits(seat, ref, [tip, *named], message)
    op.note(
        commit=snapshot.commit if snapshot else "",
        modes={path.decode("latin-1"): mode for path, mode in snapshot.modes.items()} if snapshot else {},
        admin=admin.rpartition("/")[2],
        tip=tip,
        branch=branch_of(agent) if tip and is_ours(place, agent, repo) else "",
        questions=reassign.open_questions(place, agent),
        children=reassign.children(place, agent),
        manager=authority.managers(place).get(agent, ""),
    )
    if snapshot is not None:
        log.note(place, str(op.facts["undo"]), git_snapshot.ignored(repo))
    log.write(place, record_of(op))
    op.note(saved=True)
    return snapshot


def note_children(op: operations.Operation) -> None:
    """Looked for once more: a disk that failed may have hidden one at the first look."""
    found = sorted({*op.facts["children"], *reassign.children(op.place, op.agent)})
    if found != op.facts["children"]:
        op.note(children=found)
        log.write(op.place, record_of(op))


def hand_on(op: operations.Operation, say: Say) -> None:
    """Its children get its manager; while one of them has not, it is not taken away: the next command tries again."""
    reassign.reparent(op.place, op.facts["children"], op.agent, str(op.facts["manager"]), say)
    left = reassign.children(op.place, op.agent)
    if left:
        raise IbError(f"{', '.join(left)} could not be given another manager", hint="ib list finishes it")


def snapped(repo: str, admin: str, ref: str, tip: str, message: str, say: Say) -> git_snapshot.Snapshot | None:
    """None where git cannot read its own worktree: then it is kept as it lies there, whole."""
    try:
        return git_snapshot.save(repo, admin, ref, message, [tip] if tip else [])
    except IbError as error:
        say(f"Warning: {error.message} ({error.cause}); the worktree is moved aside whole")
        return None


def is_ours(place: paths.Place, agent: str, repo: str) -> bool:
    """The branch goes with the agent that it was made for, unless it is checked out or rebased elsewhere."""
    if agent_meta.read(place, agent).get("worktree") is False:
        return False
    ref = f"refs/heads/{branch_of(agent)}"
    at = [known.path for known in checkouts.all_of(place.git_folder, place.root, place.common) if known.ref == ref]
    return all(not disk.exists(path) or same(path, repo) for path in at)


def same(path: str, other: str) -> bool:
    return disk.exists(other) and disk.stat(path).st_ino == disk.stat(other).st_ino


def record_of(op: operations.Operation) -> log.Record:
    facts = op.facts
    return log.Record(
        name=str(facts["undo"]),
        kind=str(facts.get("as") or op.kind),
        agent=op.agent,
        group=str(facts["group"]),
        by=str(facts.get("by") or ""),
        at=float(facts["at"]),
        archive=str(facts["archive"]),
        commit=str(facts["commit"]),
        branch=str(facts["branch"]),
        tip=str(facts["tip"]),
        admin=str(facts["admin"]),
        modes=facts["modes"],
        children=facts["children"],
        manager=str(facts["manager"]),
        questions=facts["questions"],
        merge=facts.get("merge"),
    )


def take_away(op: operations.Operation, snapshot: git_snapshot.Snapshot | None, say: Say) -> None:
    """git's own directory first: nobody prunes a worktree that git does not know. Nothing is deleted but what the
    commit holds; all else is moved."""
    place, agent = op.place, op.agent
    folder, home = log.folder(place, str(op.facts["undo"])), place.agent_dir(agent)
    if op.facts["admin"]:
        folders.move(f"{place.common}/worktrees/{op.facts['admin']}", f"{folder}/{log.ADMIN}")
    rest = folders.move(home + "/repo", f"{folder}/{log.REST}")
    if rest and snapshot is not None:
        git_snapshot.slim(rest, snapshot)
    branch = str(op.facts["branch"])
    if branch and not worktrees.delete_branch(place.git_folder, branch, str(op.facts["tip"])):
        left = worktrees.tip(place.git_folder, branch)
        if left:
            say(f"Branch {branch} has moved meanwhile, and stays")
    folders.move(home, f"{folder}/{log.AGENT}")
    folders.remove(place.safe_copy(home))


def finish(op: operations.Operation, archived: str, say: Say) -> None:
    place, now, name = op.place, time.time(), str(op.facts["undo"])
    size = folders.size_of(log.folder(place, name))
    log.write(place, msgspec.structs.replace(record_of(op), finished=True, archive=archived, size=size))
    logs.note(
        place,
        "cli",
        now,
        {"kind": "undo.saved", "who": op.agent, "id": name},
        {"kind": "agent.removed", "who": op.agent, "by": op.facts.get("by") or "", "as": op.facts.get("as") or op.kind},
    )
    log.forget_old(place, now, say)


def recover(op: operations.Operation, say: Say) -> None:
    """A removal that was cut off was wanted: it is brought to its end."""
    if op.facts.get("mail"):
        mail.finish(op)
    else:
        retire(op, say)
        say(f"Finished what was cut off: closed agent: {op.agent}")
    op.done()
