"""Taking a merge back: the branch goes to where it was, with the checkouts that have it, or nothing is done at all."""

from collections.abc import Callable
from typing import Any

from ibstatus.drivers import git_checkouts, git_refs
from ibstatus.errors import IbError, quoted
from ibstatus.ops import forecast, merge_step
from ibstatus.rules import merge_text
from ibstatus.store import places

Say = Callable[[str], None]


def take_back(place: places.Place, facts: dict[str, Any], say: Say) -> None:
    """`facts`: what the operation has noted as "merge". Once more is fine: what was cut off is completed."""
    ref, before, after = str(facts["ref"]), str(facts["before"]), str(facts["after"])
    if before == after:
        return
    cwd, into = forecast.where(place), git_refs.name_of(ref)
    with merge_step.turn(place):
        now = git_refs.tip_of(cwd, ref)
        here = [one for one in git_checkouts.all_of(cwd, place.root) if one.ref == ref]
        if now == before:
            bring_all(here, after, before, say)
            return
        if not now or not git_refs.contains(cwd, now, after):
            say(f"{into} does not have the merge any more: it is left as it is")
            return
        if now != after:
            raise moved_on(cwd, into, now, before, after)
        for one in here:
            look(one, into, after, before)
        why = git_refs.move(cwd, ref, after, before, f"ib undo: back before {after[:7]}")
        if why:
            raise IbError(f"{into} could not be moved back; nothing was changed", cause=why, hint="ib undo --list")
        bring_all(here, after, before, say)
    say(f"Moved {into} back to {before[:7]}")


def moved_on(cwd: str, into: str, now: str, before: str, after: str) -> IbError:
    newer = len(git_refs.commits(cwd, after, now))
    merge = git_refs.tip_of(cwd, after + "^2")
    what = f"-m 1 {after[:12]}" if merge else f"{before[:12]}..{after[:12]}"
    message = f"{into} has {merge_text.counted(newer, 'newer commit')}: the merge is not taken out from under them"
    return IbError(message, hint=f"with {into} checked out: git revert {what}")


def look(one: git_checkouts.Checkout, into: str, after: str, before: str) -> None:
    """Refuse what would lose a change of the user; changes to other files stay."""
    hint = f"git -C {quoted(one.path)} stash -u; then ib undo again"
    if one.busy:
        raise IbError(f"{one.busy} is under way in {one.path}, which has {into} checked out", hint="finish it first")
    names = git_checkouts.in_the_way(one.path, after, before)
    why = merge_text.files(names) or git_checkouts.objection(one.path, after, before)
    if why:
        raise IbError(f"Changes in {one.path} would be lost; nothing was taken back", cause=why, hint=hint)


def bring_all(here: list[git_checkouts.Checkout], start: str, end: str, say: Say) -> None:
    for one in here:
        why = git_checkouts.bring(one.path, start, end)
        if why:
            say(f"{one.path} could not be brought along: {why}")
