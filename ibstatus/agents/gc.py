"""gc: what is left over of agents that are gone: found, judged, and taken away where nothing can be lost by it."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from ibstatus.agents import archive, kill, processes, recover, retire
from ibstatus.agents.rules import leftovers
from ibstatus.agents.rules.leftovers import Leftover
from ibstatus.agents.undo import log
from ibstatus.claude import sessions as session
from ibstatus.errors import IbError
from ibstatus.project import agent_meta, agents, home, names, operations, paths
from ibstatus.state.rules import fleet
from ibstatus.system import disk, folders, jsonl
from ibstatus.system.git import worktrees
from ibstatus.system.process import user_processes
from ibstatus.system.process.classify import Own

Say = Callable[[str], None]
DAYS = 30
SCRATCH = "/tmp/ib-"
MOST_LOOKED_AT = 10_000
SLACK = 1.0  # created_epoch is in whole seconds in older records


class Swept(NamedTuple):
    """`undo`: the name under which what was removed can come back, or ''."""

    removed: list[Leftover]
    failed: list[tuple[str, str]]
    undo: str


def find(place: paths.Place, now: float, say: Say) -> list[Leftover]:
    """Everything, also what stays; nothing is changed but what a killed command has left half done."""
    if not home.look(place):
        return []
    recover.everything(place, say)
    found = [*of_agents(place), *sessions(place), *orphans(place), *expired(place, now), *scratch(place)]
    return sorted(found, key=lambda one: (one.state, one.kind, one.name))


def of_agents(place: paths.Place) -> Iterator[Leftover]:
    git_knows = known_to_git(place)
    for agent in sorted({*folders.names_in(place.home + "/agents"), *git_knows}):
        if operations.is_at_work(place, agent):
            continue
        judged = leftovers.judged(seen := look(place, agent, git_knows.get(agent, [])))
        if judged is not None:
            path = place.agent_dir(agent)
            yield Leftover(leftovers.kind_of(seen), agent, path, *judged, folders.size_of(path))


def known_to_git(place: paths.Place) -> dict[str, list[str]]:
    """agent → the commits at which git has its branch or its worktree, also one whose folder is gone."""
    found: dict[str, list[str]] = {}
    for branch in worktrees.agent_branches(place.git_folder):
        found.setdefault(branch.removeprefix("agent/"), []).append(worktrees.tip(place.git_folder, branch))
    for tree in worktrees.worktrees(place.git_folder):
        folder, _, leaf = tree.path.rpartition("/")
        if leaf == "repo" and os.path.realpath(os.path.dirname(folder)) == os.path.realpath(place.home + "/agents"):
            found.setdefault(os.path.basename(folder), []).append(tree.head)
    return {agent: commits for agent, commits in found.items() if names.is_agent_id(agent)}


def look(place: paths.Place, agent: str, commits: Sequence[str]) -> leftovers.Remains:
    folder, branch = place.agent_dir(agent), retire.branch_of(agent)
    repo = folder + "/repo"
    has_tree = disk.exists(repo + "/.git")
    has_meta = disk.exists(folder + "/meta.json")
    tip = worktrees.tip(place.git_folder, branch)
    return leftovers.Remains(
        has_meta=has_meta,
        has_tree=has_tree,
        known_to_git=bool(commits),
        has_branch=bool(tip),
        running=session.of(place, agent).pane() is not None,
        held=holder(place, agent, repo),
        files=worktrees.uncommitted(repo) if has_tree else [],
        own=own_commits(place, agent, tip),
        alone=worktrees.only_here(place.git_folder, commits, [branch]),
        papers=[] if has_meta else papers(folder),
    )


def papers(folder: str) -> list[str]:
    """What is there that neither git nor an empty folder would explain."""
    return [leaf for leaf in folders.names_in(folder) if leaf != "repo"]


def own_commits(place: paths.Place, agent: str, tip: str) -> int | None:
    base = agent_meta.read(place, agent).get("base_commit")
    if not tip or not isinstance(base, str) or not base:
        return None
    return worktrees.between(place.git_folder, base, tip)


def holder(place: paths.Place, agent: str, repo: str) -> str:
    """Who would miss it: a process that stands in it, a checkout that has its branch."""
    inside = user_processes.inside(repo)
    if inside:
        return f"process {inside[0].pid} works in it"
    if not retire.is_ours(place, agent, repo):
        return "its branch is checked out elsewhere"
    return ""


def sessions(place: paths.Place) -> Iterator[Leftover]:
    for name in kill.stray_sessions(place):
        yield Leftover("session", name, "", leftovers.ACTIVE, "a tmux session of no agent")


def orphans(place: paths.Place) -> Iterator[Leftover]:
    for own in processes.orphans(place):
        yield as_leftover(own)


def as_leftover(own: Own) -> Leftover:
    """Its start is in the name: a number alone is given out again."""
    name = f"{own.pid}@{own.started:.2f}"
    return Leftover("process", name, "", leftovers.ORPHAN, f"{own.why}: {own.command}")


def end_orphan(place: paths.Place, one: Leftover) -> None:
    for own in processes.orphans(place):
        if as_leftover(own) == one:
            processes.end(place, own)
            return
    raise IbError("it has ended, or is no orphan any more", hint="ib list --processes")


def expired(place: paths.Place, now: float) -> Iterator[Leftover]:
    for record in log.surplus(place, now):
        path = log.folder(place, record.name)
        reason = f"the {record.kind} of {record.agent} can no longer be undone then"
        yield Leftover("undo", record.name, path, leftovers.EXPIRED, reason, folders.size_of(path))
    for leaf in archive.expired(place, now, DAYS):
        path = f"{place.home}/archive/{leaf}"
        yield Leftover("archive", leaf, path, leftovers.EXPIRED, f"older than {DAYS} days", folders.size_of(path))


def scratch(place: paths.Place) -> Iterator[Leftover]:
    """Of agents that were removed here. A namesake in another repository has the same folder: unless nobody can be at
    work there, and nothing is younger than the removal, it is unknown whose it is."""
    latest = {one.agent: (one.at, created(place, one)) for one in reversed(log.all_of(place))}
    for agent in latest:
        path = SCRATCH + agent
        if not names.is_agent_id(agent) or agents.exists(place, agent) or not is_own_folder(path):
            continue
        doubt = doubtful(agent, path, *latest[agent])
        state = leftovers.UNKNOWN if doubt else leftovers.EXPIRED
        yield Leftover(
            "scratch", agent, path, state, doubt or "the agent that it was for is gone", folders.size_of(path)
        )


def created(place: paths.Place, record: log.Record) -> float:
    """When the agent of this record was made; 0.0 when nobody knows any more."""
    try:
        data = disk.read_ours(f"{log.folder(place, record.name)}/{log.AGENT}/meta.json", agents.LONGEST_META)
        known = jsonl.decode(data.decode("utf-8", "replace"))
    except (OSError, ValueError):
        return 0.0
    return fleet.created_of(known) or 0.0 if isinstance(known, dict) else 0.0


def doubtful(agent: str, path: str, at: float, born: float) -> str:
    """Why it may be somebody else's, or ''."""
    times = list(islice(folders.times_in(path), MOST_LOOKED_AT + 1))
    if len(times) > MOST_LOOKED_AT:
        return "too much lies in it to be sure whose it is"
    if max(times) > at:
        return "written after its agent was removed"
    if max(times) < born - SLACK:
        return "older than its agent"
    using = user_processes.using(path, agent)
    return f"process {using[0].pid} uses it" if using else ""


def is_own_folder(path: str) -> bool:
    try:
        status = disk.lstat(path)
    except OSError:
        return False
    return status.st_uid == os.getuid() and status.st_mode & 0o170000 == 0o040000


def sweep(place: paths.Place, chosen: Sequence[Leftover], by: str, say: Say) -> Swept:
    removed: list[Leftover] = []
    failed: list[tuple[str, str]] = []
    undo = ""
    for one in chosen:
        try:
            undo = take(place, one, by, undo, say) or undo
            removed.append(one)
        except (IbError, OSError) as error:
            failed.append((one.name, str(error)))
    return Swept(removed, failed, undo)


def take(place: paths.Place, one: Leftover, by: str, group: str, say: Say) -> str:
    """The name of the first undo record of this command, as far as there is one."""
    if one.kind in ("agent", "worktree", "branch", "folder"):
        if is_changed(place, one):
            raise IbError(f"{one.name} has changed since it was looked at", hint="ib gc")
        if one.kind == "branch" and not retire.is_ours(place, one.name, one.path + "/repo"):
            raise IbError("its branch is checked out elsewhere, and stays", hint="git worktree list")
        done = kill.one(place, one.name, by, "removed by gc", group, say)
        return group or done.undo
    if one.kind == "session":
        kill.end_session(place, one.name)
    elif one.kind == "undo":
        log.forget_removals(place, [one.name])
    elif one.kind == "process":
        end_orphan(place, one)
    elif one.kind == "scratch":
        set_aside(place, one, say)
    else:
        folders.remove(one.path)
    return ""


def set_aside(place: paths.Place, one: Leftover, say: Say) -> None:
    """Not deleted: nobody can be quite sure whose it is, and no undo reaches there."""
    if one not in list(scratch(place)):
        raise IbError(f"{one.path} has changed since it was looked at", hint="ib gc")
    say(f"Moved {one.path} to {folders.move(one.path, f'{one.path}.{int(time.time())}')}")


def is_changed(place: paths.Place, one: Leftover) -> bool:
    """Looked at again right before: an agent may have been made, or work begun, since somebody said yes."""
    judged = leftovers.judged(look(place, one.name, known_to_git(place).get(one.name, [])))
    return judged is None or judged[0] != one.state
