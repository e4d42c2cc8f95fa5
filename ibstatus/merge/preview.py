"""What would come out of a merge, looked at and made without touching a branch, an index or a file."""

import os
from typing import NamedTuple

from ibstatus.errors import IbError, quoted
from ibstatus.merge.rules import text
from ibstatus.project import agent_meta, authority, identity, paths
from ibstatus.project.rules import authority as rule
from ibstatus.system.git import checkouts, lock, merge_tree, refs, run, worktrees

CONFLICT, DIRTY_AGENT, DIRTY_TARGET, BUSY = "conflict", "dirty-agent", "dirty-target", "busy"
OTHER_BASE, WORKING = "other-base", "working"


class Blocked(IbError):
    """Why there can be no merge now: a word for programs, and the files that are in its way."""

    def __init__(self, problem: str, message: str, files: list[str], *, hint: str, cause: str = "") -> None:
        super().__init__(message, hint=hint, cause=cause or text.files(files))
        self.problem = problem
        self.files = files


class Plan(NamedTuple):
    """A merge with its result made, not done yet. `branch` goes into `ref`, which `checkouts` have; `agent` is closed
    with it, or ''; `commits`: newest first; `options`: what a hint repeats of the command line."""

    agent: str
    tip: str
    ref: str
    before: str
    after: str
    checkouts: list[str]
    commits: list[refs.Commit]
    linear: bool
    options: str = ""
    branch: str = ""

    @property
    def into(self) -> str:
        return refs.name_of(self.ref)

    @property
    def is_idle(self) -> bool:
        """Has the target all of it already?"""
        return self.before == self.after


class Made(NamedTuple):
    """The commit that a branch will be at; or the files that conflict, and in which commit where one of many does."""

    after: str
    conflicts: tuple[str, ...] = ()
    at: str = ""


def branch_of(agent: str) -> str:
    return f"{refs.HEADS}agent/{agent}"


def target(place: paths.Place, caller: identity.Caller, agent: str, into: str, cwd: str) -> str:
    """The whole name of the branch that this caller means."""
    ref = named(place, into) if into else own(place, caller) or checked_out(place, agent, cwd)
    if ref == branch_of(agent):
        raise IbError(f"agent/{agent} cannot be merged into itself", hint=f"ib merge {agent} --into BRANCH")
    if caller.kind == identity.AGENT and ref not in open_to(place, caller):
        why = f"{caller.name} may not merge into {refs.name_of(ref)}: an agent merges into its own branch"
        raise IbError(why, hint=f"ib merge {agent}")
    return ref


def named(place: paths.Place, into: str) -> str:
    ref = refs.branch_of(place.git_folder, into)
    if not ref:
        raise IbError(f"There is no local branch '{into}'", hint=f"git branch --list, or: git branch -- {quoted(into)}")
    return ref


def own(place: paths.Place, caller: identity.Caller) -> str:
    """The branch of an agent that calls; '' for others, and for one that works in the main checkout."""
    return refs.branch_of(place.git_folder, f"agent/{caller.name}") if caller.kind == identity.AGENT else ""


def open_to(place: paths.Place, caller: identity.Caller) -> set[str]:
    """What an agent may merge into: its own branch and those of agents below; without one the main checkout's."""
    mine = [caller.name, *rule.below(caller.name, authority.managers(place))]
    without = agent_meta.read(place, caller.name).get("worktree") is False
    return {branch_of(name) for name in mine} | ({refs.head_of(place.root)} if without else set())


def checked_out(place: paths.Place, agent: str, cwd: str) -> str:
    """The branch of the checkout that the caller stands in; of the main one when it stands in none."""
    top = checkout_at(place, cwd)
    ref = refs.head_of(top)
    if not ref:
        why = f"{top} is not on a branch" if os.path.lexists(top + "/.git") else "There is no checkout here"
        raise IbError(f"{why}: into which one is to be merged?", hint=f"ib merge {agent} --into BRANCH")
    return ref


def checkout_at(place: paths.Place, cwd: str) -> str:
    """Where the caller stands; the main one when it stands in none."""
    seen = run.seen(cwd)
    return place.root if isinstance(seen, str) or not seen.top else seen.top


def begun_at(place: paths.Place, agent: str) -> str:
    """The whole name of the branch that it began at, when it is there; '' for that of another agent, too."""
    base = str(agent_meta.read(place, agent).get("base") or "")
    ref = refs.branch_of(place.git_folder, base) if base else ""
    return "" if ref.startswith(branch_of("")) else ref


def look_at_base(place: paths.Place, agent: str, ref: str, options: str) -> None:
    """Begun on one branch, merged into another: what is not the agent's own must not go along unasked."""
    begun, commit = begun_at(place, agent), str(agent_meta.read(place, agent).get("base_commit") or "")
    cwd, into, base = place.git_folder, refs.name_of(ref), refs.name_of(begun)
    if not begun or begun == ref or not commit or refs.contains(cwd, ref, commit):
        return
    others = len(refs.commits(cwd, ref, commit))
    if others:
        message = f"{agent} was begun on {base}: {text.counted(others, 'commit')} of {base} would go into {into}"
        hint = f"{text.again(agent, base, options)}, or to insist: {text.again(agent, into, options)}"
        raise Blocked(
            OTHER_BASE, message, [], hint=hint, cause=f"they are not the agent's own, and {into} has them not"
        )


def plan(place: paths.Place, agent: str, ref: str, linear: bool, options: str = "") -> Plan:
    """Everything that can be known before. Raises what is in the way; leaves nothing but commits without a name."""
    cwd, into = place.git_folder, refs.name_of(ref)
    before = refs.tip_of(cwd, ref)
    if not before:
        hint = f"git commit --allow-empty -m 'first commit'; or: ib merge {agent} --into BRANCH"
        raise IbError(f"The branch {into} has no commit yet", hint=hint)
    tip = refs.tip_of(cwd, branch_of(agent))
    if not tip:
        raise IbError(f"{agent} has no branch agent/{agent}: there is nothing to merge", hint=f"ib kill {agent}")
    look_at_agent(place, agent, tip, into, before, options)
    commits = refs.commits(cwd, before, tip)
    made = result(cwd, f"Merge agent {agent} work\n".encode(), before, tip, linear) if commits else Made(before)
    if made.conflicts:
        raise conflict(agent, into, made, options)
    here = going_along(place, ref, before, made.after, text.again(agent, into, options))
    shown = commits if made.after != before else []
    return Plan(agent, tip, ref, before, made.after, here, shown, linear, options, branch_of(agent))


def look_at_agent(place: paths.Place, agent: str, tip: str, into: str, before: str, options: str) -> None:
    """Nothing that stands only in its worktree may get lost."""
    worktree = place.agent_dir(agent) + "/repo"
    if not os.path.isdir(worktree):
        return
    busy = lock.under_way(checkouts.git_dir(worktree))
    if busy:
        hint = text.ask_agent(agent, f"Finish or abort {busy} in your worktree")
        raise Blocked(BUSY, f"{agent} is in the middle of {busy}", [], hint=hint, cause=worktree)
    names = [change.path for change in checkouts.changes(worktree)]
    names += [path for path in worktrees.changed(worktree) if path not in names]
    if names:
        counted = text.counted(len(names), "uncommitted file")
        hint = text.commit_hint(agent, into, names, options)
        raise Blocked(DIRTY_AGENT, f"{agent} has {counted}", names, hint=hint)
    head = refs.tip_of(worktree, "HEAD")
    if head and not refs.contains(worktree, tip, head):
        on = refs.name_of(refs.head_of(worktree)) or "no branch"
        hint = text.ask_agent(agent, f"Bring your commits onto the branch agent/{agent}")
        raise Blocked(DIRTY_AGENT, f"{agent} has commits that are not on agent/{agent}: it is on {on}", [], hint=hint)
    names = checkouts.only_here(worktree, refs.merge_base(worktree, before, tip) or tip, tip)
    if names:
        hint = text.ask_agent(agent, f"Push what you have committed in {text.files(names)}")
        raise Blocked(DIRTY_AGENT, f"{agent} has commits in submodules that nobody else has", names, hint=hint)


def going_along(place: paths.Place, ref: str, before: str, after: str, again: str) -> list[str]:
    """The checkouts that have the branch; raises what keeps one from going along. `again`: what to type then."""
    here = [one for one in checkouts.all_of(place.git_folder, place.root, place.common) if one.ref == ref]
    for one in here if after != before else ():
        look_at_target(one, refs.name_of(ref), before, after, again)
    return [one.path for one in here]


def look_at_target(one: checkouts.Checkout, into: str, before: str, after: str, again: str) -> None:
    """A checkout of the target must be able to go along without losing anything."""
    if one.busy:
        hint = f"finish it there, then: {again}"
        raise Blocked(BUSY, f"{one.busy} is under way in {one.path}", [], hint=hint, cause=f"it has {into} checked out")
    hint = text.stash_hint(one.path, again)
    names = [change.path for change in checkouts.changes(one.path) if change.code != "??"]
    if names:
        counted = text.counted(len(names), "uncommitted file")
        raise Blocked(DIRTY_TARGET, f"{one.path}, which has {into} checked out, has {counted}", names, hint=hint)
    names = checkouts.in_the_way(one.path, before, after)
    if names:
        message = f"Files in {one.path} that git does not know would be overwritten"
        hint = f"move them away, then: {again}"
        raise Blocked(DIRTY_TARGET, message, names, hint=hint)
    why = checkouts.objection(one.path, before, after)
    if why:
        raise Blocked(DIRTY_TARGET, f"{one.path} cannot go along", [], hint=hint, cause=why)


def result(cwd: str, message: bytes, before: str, tip: str, linear: bool) -> Made:
    """A merge commit keeps the branch point; what is linear stays a line of first parents."""
    if linear:
        return Made(tip) if refs.contains(cwd, tip, before) else carried(cwd, before, tip)
    made = merge_tree.merged(cwd, before, tip)
    if made.conflicts:
        return Made("", made.conflicts)
    return Made(merge_tree.commit(cwd, made.tree, (before, tip), message, {}))


def carried(cwd: str, before: str, tip: str) -> Made:
    made = merge_tree.carried(cwd, before, tip)
    return Made("", made.conflicts, made.at) if made.conflicts else Made(made.tip)


def conflict(agent: str, into: str, made: Made, options: str) -> Blocked:
    message = text.conflicts(f"agent/{agent}", into, made.conflicts, made.at)
    hint = text.conflict_hint(agent, into, made.conflicts, options)
    return Blocked(CONFLICT, message, list(made.conflicts), hint=hint)
