"""Taking a merge back: the branch goes to where it was, with the checkouts that have it, or nothing is done at all."""

from collections.abc import Callable
from typing import Any

from ibstatus.errors import IbError, quoted
from ibstatus.merge import checkout_update, move_branch
from ibstatus.merge.rules import text
from ibstatus.project import paths
from ibstatus.system.git import checkouts, refs
from ibstatus.system.process import run

Say = Callable[[str], None]


def take_back(place: paths.Place, facts: dict[str, Any], say: Say) -> None:
    """`facts`: what the operation has noted as "merge". Once more is fine: what was cut off is completed."""
    ref, before, after = str(facts["ref"]), str(facts["before"]), str(facts["after"])
    if before == after:
        return
    cwd, into = place.git_folder, refs.name_of(ref)
    with move_branch.turn(place):
        busy = checkout_update.at_work(move_branch.of_the_user(place))
        if busy:
            raise IbError(f"git is at work in {busy}; nothing was taken back", hint="ib undo again when it is done")
        now = refs.tip_of(cwd, ref)
        here = [one for one in checkouts.all_of(cwd, place.root, place.common) if one.ref == ref]
        if now == before:
            bring(place, facts, here, say)
            return
        if not now and (other := renamed(cwd, ref)):
            hint = f"git branch -m {quoted(other)} {quoted(into)}, then this again; or {kept(facts)}"
            raise IbError(f"{into} is called {other} now; nothing was taken back", hint=hint)
        if not now or not refs.contains(cwd, now, after):
            say(f"{into} does not have the merge any more: it is left as it is{made_anew(cwd, before, after, now)}")
            return
        if now != after:
            raise moved_on(cwd, facts, into, now)
        for one in here:
            look(one, into, after, before)
        why = refs.move(cwd, ref, after, before, f"ib undo: back before {after[:7]}")
        if why:
            raise IbError(f"{into} could not be moved back; nothing was changed", cause=why, hint="ib undo --list")
        bring(place, facts, here, say)
    say(f"Moved {into} back to {before[:7]}")
    move_branch.report_race(place, ref, after, before, say)


def bring(place: paths.Place, facts: dict[str, Any], here: list[checkouts.Checkout], say: Say) -> None:
    ref, before, after = str(facts["ref"]), str(facts["before"]), str(facts["after"])
    if not move_branch.bring(place, ref, after, before, [one.path for one in here], say):
        raise IbError(f"{refs.name_of(ref)} was moved meanwhile, and has the merge again", hint="ib undo again")


def renamed(cwd: str, ref: str) -> str:
    """What the branch is called now, by git's own log of it; '' when it was not renamed."""
    listed = refs.asked(cwd, "for-each-ref", "--format=%(refname)", "refs/heads")
    for other in run.text(listed.out).split():
        said = refs.asked(cwd, "reflog", "show", "--format=%gs", other, "--")
        if f"Branch: renamed {ref} to {other}" in run.text(said.out).splitlines():
            return refs.name_of(other)
    return ""


def made_anew(cwd: str, before: str, after: str, now: str) -> str:
    """A merge that was amended or rebased: its work is there, in a commit of another name, which is the user's own."""
    work = refs.tip_of(cwd, after + "^2") or after
    listed = refs.asked(cwd, "rev-list", "--merges", "--parents", now, "--not", before)
    for line in run.text(listed.out).splitlines():
        commit, *parents = line.split()
        if work in parents[1:]:
            return (
                f". Its work is in {commit[:12]}, which was made of it; to take it out: git revert -m 1 {commit[:12]}"
            )
    if work != after and refs.contains(cwd, now, work):
        return f". The work of the agent is still in it: git log {before[:12]}..{now[:12]}"
    same = refs.contains(cwd, now, before) and refs.tree_of(cwd, now) == refs.tree_of(cwd, after)
    return f". Its work is still in it, in {now[:12]}: git log {before[:12]}..{now[:12]}" if same else ""


def moved_on(cwd: str, facts: dict[str, Any], into: str, now: str) -> IbError:
    before, after = str(facts["before"]), str(facts["after"])
    newer = text.counted(len(refs.commits(cwd, after, now)), "newer commit")
    keep = kept(facts)
    if is_out_again(cwd, before, after, now):
        message = f"{into} has {newer}, and they have taken the changes of the merge back already"
        return IbError(message, hint=keep, cause="nothing is left to take out of the branch; the agent can come back")
    merge = refs.tip_of(cwd, after + "^2")
    what = f"-m 1 {after[:12]}" if merge else f"{before[:12]}..{after[:12]}"
    message = f"{into} has {newer}: the merge is not taken out from under them"
    return IbError(message, hint=f"{keep}; or with {into} checked out: git revert {what}")


def kept(facts: dict[str, Any]) -> str:
    return f"ib undo {quoted(str(facts.get('agent') or 'NAME'))} --keep-merge"


def is_out_again(cwd: str, before: str, after: str, now: str) -> bool:
    """Has everything that the merge changed become again what it was before it?"""
    changed = refs.changed(cwd, before, after)
    return bool(changed) and changed.isdisjoint(refs.changed(cwd, before, now))


def look(one: checkouts.Checkout, into: str, after: str, before: str) -> None:
    """Refuse what would lose a change of the user; changes to other files stay."""
    hint = f"git -C {quoted(one.path)} stash -u; then ib undo again"
    if one.busy:
        raise IbError(f"{one.busy} is under way in {one.path}, which has {into} checked out", hint="finish it first")
    names = checkouts.in_the_way(one.path, after, before)
    why = text.files(names) or checkouts.objection(one.path, after, before)
    if why:
        raise IbError(f"Changes in {one.path} would be lost; nothing was taken back", cause=why, hint=hint)
