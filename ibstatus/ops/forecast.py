"""What would come out of a merge, looked at and made without touching a branch, an index or a file."""

import os
from typing import NamedTuple

from ibstatus.drivers import git, git_checkouts, git_merge, git_refs
from ibstatus.errors import IbError, quoted
from ibstatus.ops import authority
from ibstatus.rules import authority as rule
from ibstatus.rules import identity, merge_text
from ibstatus.store import meta, places

CONFLICT, DIRTY_AGENT, DIRTY_TARGET, BUSY = "conflict", "dirty-agent", "dirty-target", "busy"


class Blocked(IbError):
    """Why there can be no merge now: a word for programs, and the files that are in its way."""

    def __init__(self, problem: str, message: str, files: list[str], *, hint: str, cause: str = "") -> None:
        super().__init__(message, hint=hint, cause=cause or merge_text.files(files))
        self.problem = problem
        self.files = files


class Plan(NamedTuple):
    """A merge with its result made, not done yet. `ref`: the target; `checkouts` have it; `commits`: newest first."""

    agent: str
    tip: str
    ref: str
    before: str
    after: str
    checkouts: list[str]
    commits: list[git_refs.Commit]
    linear: bool

    @property
    def into(self) -> str:
        return git_refs.name_of(self.ref)

    @property
    def is_idle(self) -> bool:
        """Has the target all of it already?"""
        return self.before == self.after


def branch_of(agent: str) -> str:
    return f"{git_refs.HEADS}agent/{agent}"


def where(place: places.Place) -> str:
    """A folder in which git can be asked about the repository, a bare one too."""
    return place.root if os.path.lexists(place.root + "/.git") else place.common


def target(place: places.Place, caller: identity.Caller, agent: str, into: str, cwd: str) -> str:
    """The whole name of the branch that this caller means."""
    ref = named(place, into) if into else own(place, caller) or checked_out(place, agent, cwd)
    if ref == branch_of(agent):
        raise IbError(f"agent/{agent} cannot be merged into itself", hint=f"ib merge {agent} --into BRANCH")
    if caller.kind == identity.AGENT and ref not in open_to(place, caller):
        why = f"{caller.name} may not merge into {git_refs.name_of(ref)}: an agent merges into its own branch"
        raise IbError(why, hint=f"ib merge {agent}")
    return ref


def named(place: places.Place, into: str) -> str:
    ref = git_refs.branch_of(where(place), into)
    if not ref:
        raise IbError(f"There is no local branch '{into}'", hint=f"git branch --list, or: git branch -- {quoted(into)}")
    return ref


def own(place: places.Place, caller: identity.Caller) -> str:
    """The branch of an agent that calls; '' for others, and for one that works in the main checkout."""
    return git_refs.branch_of(where(place), f"agent/{caller.name}") if caller.kind == identity.AGENT else ""


def open_to(place: places.Place, caller: identity.Caller) -> set[str]:
    """What an agent may merge into: its own branch and those of agents below; without one the main checkout's."""
    mine = [caller.name, *rule.below(caller.name, authority.managers(place))]
    without = meta.read(place, caller.name).get("worktree") is False
    return {branch_of(name) for name in mine} | ({git_refs.head_of(place.root)} if without else set())


def checked_out(place: places.Place, agent: str, cwd: str) -> str:
    """The branch of the checkout that the caller stands in; of the main one when it stands in none."""
    seen = git.seen(cwd)
    top = place.root if isinstance(seen, str) or not seen.top else seen.top
    ref = git_refs.head_of(top)
    if not ref:
        why = f"{top} is not on a branch" if os.path.lexists(top + "/.git") else "There is no checkout here"
        raise IbError(f"{why}: into which one is to be merged?", hint=f"ib merge {agent} --into BRANCH")
    return ref


def plan(place: places.Place, agent: str, ref: str, linear: bool) -> Plan:
    """Everything that can be known before. Raises what is in the way; leaves nothing but commits without a name."""
    cwd, into = where(place), git_refs.name_of(ref)
    before = git_refs.tip_of(cwd, ref)
    if not before:
        hint = f"git commit --allow-empty -m 'first commit'; or: ib merge {agent} --into BRANCH"
        raise IbError(f"The branch {into} has no commit yet", hint=hint)
    tip = git_refs.tip_of(cwd, branch_of(agent))
    if not tip:
        raise IbError(f"{agent} has no branch agent/{agent}: there is nothing to merge", hint=f"ib kill {agent}")
    look_at_agent(place, agent, tip, into, before)
    commits = git_refs.commits(cwd, before, tip)
    after = result(cwd, agent, into, before, tip, linear) if commits else before
    here = [one for one in git_checkouts.all_of(cwd, place.root) if one.ref == ref]
    for one in here if after != before else ():
        look_at_target(one, agent, into, before, after)
    return Plan(agent, tip, ref, before, after, [one.path for one in here], commits if after != before else [], linear)


def look_at_agent(place: places.Place, agent: str, tip: str, into: str, before: str) -> None:
    """Nothing that stands only in its worktree may get lost."""
    worktree = place.agent_dir(agent) + "/repo"
    if not os.path.isdir(worktree):
        return
    busy = git_checkouts.under_way(git_checkouts.git_dir(worktree))
    if busy:
        hint = merge_text.ask_agent(agent, f"Finish or abort {busy} in your worktree")
        raise Blocked(BUSY, f"{agent} is in the middle of {busy}", [], hint=hint, cause=worktree)
    names = [change.path for change in git_checkouts.changes(worktree, "--ignore-submodules=none")]
    if names:
        counted = merge_text.counted(len(names), "uncommitted file")
        hint = merge_text.commit_hint(agent, into, names)
        raise Blocked(DIRTY_AGENT, f"{agent} has {counted}", names, hint=hint)
    head = git_refs.tip_of(worktree, "HEAD")
    if head and not git_refs.contains(worktree, tip, head):
        on = git_refs.name_of(git_refs.head_of(worktree)) or "no branch"
        hint = merge_text.ask_agent(agent, f"Bring your commits onto the branch agent/{agent}")
        raise Blocked(DIRTY_AGENT, f"{agent} has commits that are not on agent/{agent}: it is on {on}", [], hint=hint)
    names = git_checkouts.only_here(worktree, git_refs.merge_base(worktree, before, tip) or tip, tip)
    if names:
        hint = merge_text.ask_agent(agent, f"Push what you have committed in {merge_text.files(names)}")
        raise Blocked(DIRTY_AGENT, f"{agent} has commits in submodules that nobody else has", names, hint=hint)


def look_at_target(one: git_checkouts.Checkout, agent: str, into: str, before: str, after: str) -> None:
    """A checkout of the target must be able to go along without losing anything."""
    if one.busy:
        hint = f"finish it there, then: {merge_text.again(agent, into)}"
        raise Blocked(BUSY, f"{one.busy} is under way in {one.path}", [], hint=hint, cause=f"it has {into} checked out")
    hint = f"git -C {quoted(one.path)} stash -u; or commit there; then: {merge_text.again(agent, into)}"
    names = [change.path for change in git_checkouts.changes(one.path) if change.code != "??"]
    if names:
        counted = merge_text.counted(len(names), "uncommitted file")
        raise Blocked(DIRTY_TARGET, f"{one.path}, which has {into} checked out, has {counted}", names, hint=hint)
    names = git_checkouts.in_the_way(one.path, before, after)
    if names:
        message = f"Files in {one.path} that git does not know would be overwritten"
        raise Blocked(DIRTY_TARGET, message, names, hint=f"move them away, then: {merge_text.again(agent, into)}")
    why = git_checkouts.objection(one.path, before, after)
    if why:
        raise Blocked(DIRTY_TARGET, f"{one.path} cannot go along", [], hint=hint, cause=why)


def result(cwd: str, agent: str, into: str, before: str, tip: str, linear: bool) -> str:
    """The commit that the target will be at. A user's merge keeps the branch point, a manager's stays a line."""
    if linear:
        return tip if git_refs.contains(cwd, tip, before) else carried(cwd, agent, into, before, tip)
    made = git_merge.merged(cwd, before, tip)
    if made.conflicts:
        raise conflict(agent, into, made.conflicts)
    return git_merge.commit(cwd, made.tree, (before, tip), f"Merge agent {agent} work\n".encode(), {})


def carried(cwd: str, agent: str, into: str, before: str, tip: str) -> str:
    made = git_merge.carried(cwd, before, tip)
    if made.conflicts:
        raise conflict(agent, into, made.conflicts, f" (its commit {made.at[:7]})")
    return made.tip


def conflict(agent: str, into: str, names: tuple[str, ...], at: str = "") -> Blocked:
    message = f"agent/{agent}{at} conflicts with {into} in {merge_text.counted(len(names), 'file')}"
    return Blocked(CONFLICT, message, list(names), hint=merge_text.conflict_hint(agent, into, names))
