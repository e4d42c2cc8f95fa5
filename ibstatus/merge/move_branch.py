"""The one step of a merge that changes something: the branch moves, and the checkouts that have it go along.

`carry` tries it until it stands, for `ib merge` and for the board's merge queue.

What a killed one of us has left running: its git goes on by itself, and may move a branch when nobody expects it.
"""

import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import psutil

from ibstatus.errors import IbError, quoted
from ibstatus.merge import checkout_update, preview
from ibstatus.merge.preview import Plan
from ibstatus.project import operations, paths
from ibstatus.system import locks
from ibstatus.system.git import checkouts as git_checkouts
from ibstatus.system.git import refs
from ibstatus.system.process import run

OURS = ("ib merge ", "ib undo: ")  # how our reflog lines begin, see git_refs.move


def moving(folder: str, checkouts: Sequence[str]) -> list[int]:
    """The processes that move a branch of this repository for us; asked while none of us does."""
    places = {folder, *checkouts}
    found = []
    for process in run.running():
        try:
            argv = process.cmdline()
            if "update-ref" in argv[:4] and any(word.startswith(OURS) for word in argv) and process.cwd() in places:
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found


Say = Callable[[str], None]
MOVED_ON, AT_WORK = "it has moved meanwhile", "git is at work in"
TRIES = 3
# What git says where somebody was quicker, or has a file open in the middle of his work: it passes.
PASSING = (MOVED_ON, AT_WORK, checkout_update.AWAY, "File exists", "not uptodate", "overwritten", "but expected")
PATIENCE, PAUSE = 30.0, 0.02
STRAY_PATIENCE = 1.0


class Stuck(IbError):
    """The branch could not be moved, and nothing was. `cause` says why."""

    @property
    def passes(self) -> bool:
        return any(sign in self.cause for sign in PASSING)


def nothing(plan: Plan) -> None:
    return


class Course(NamedTuple):
    """How one merge goes. `anew`: its forecast once more, in our turn; `gate` raises when the result must not be
    merged, None: nobody asks; `moving` is told before each try, `moved` when the branch is there. `again`: a hint."""

    anew: Callable[[], Plan]
    gate: Callable[[Plan], None] | None
    again: str
    moving: Callable[[Plan], None] = nothing
    moved: Callable[[Plan], None] = nothing


@contextmanager
def turn(place: paths.Place) -> Iterator[None]:
    """One of us at a time moves branches. Not waited for without end: a hook of git may be what calls us."""
    lock, until = locks.Lock(place.lock("merge")), time.monotonic() + PATIENCE
    while not lock.try_take():
        if time.monotonic() > until:
            raise IbError("Another ib is merging here, and does not come to its end", hint="ib list")
        time.sleep(PAUSE)
    try:
        refuse_stray(place, until)
        yield
    finally:
        lock.release()


def refuse_stray(place: paths.Place, until: float) -> None:
    """A git that was started by a killed one of us, and which a hook of the user holds up, moves the branch yet."""
    while ids := moving(place.git_folder, [one.path for one in checkouts(place)]):
        if time.monotonic() > until:
            pids = " ".join(map(str, ids))
            raise IbError(
                "A git that a killed ib has started is still moving a branch",
                cause="a reference-transaction hook may hold it up",
                hint=f"ps -o pid,etime,args -p {pids}",
            )
        time.sleep(PAUSE)


def checkouts(place: paths.Place) -> list[git_checkouts.Checkout]:
    return git_checkouts.all_of(place.git_folder, place.root, place.common)


def plan(place: paths.Place, agent: str, ref: str, linear: bool, options: str) -> preview.Plan:
    """The forecast; when something is in the way once more in our turn: it may be what another merge just writes."""
    try:
        return preview.plan(place, agent, ref, linear, options)
    except preview.Blocked:
        with turn(place):
            return preview.plan(place, agent, ref, linear, options)


def carry(op: operations.Operation, plan: Plan, course: Course, say: Say) -> Plan:
    """The branch is moved, or nothing is. Somebody else's commit in between: all is computed (and tested) once more."""
    why = ""
    for _ in range(TRIES):
        with turn(op.place):
            now = course.anew()
            same = now.before == plan.before
            plan = plan._replace(checkouts=now.checkouts) if same else now
            why = step(op, plan, course, say) if same or course.gate is None else MOVED_ON
        if not why:
            return plan
        say(f"{plan.into}: {why}")
        if not same and course.gate is not None:
            course.gate(plan)
    raise Stuck(f"{plan.into} could not be moved", cause=why, hint=course.again)


def step(op: operations.Operation, plan: Plan, course: Course, say: Say) -> str:
    """One try to move the branch, noted before it is done; '' when it is there."""
    facts = {
        "agent": plan.agent,
        "ref": plan.ref,
        "before": plan.before,
        "after": plan.after,
        "checkouts": plan.checkouts,
        "commits": len(plan.commits),
    }
    course.moving(plan)
    op.note(step="moving", merge=facts)
    return "" if plan.is_idle else advance(op.place, refs.name_of(plan.branch), facts, say)


def advance(place: paths.Place, branch: str, facts: dict[str, Any], say: Say) -> str:
    """With the checkout that has the branch; by its name alone when none has it. `branch`: what is merged into it."""
    cwd, why = place.git_folder, f"ib merge {branch}"
    ref, before, after = str(facts["ref"]), str(facts["before"]), str(facts["after"])
    here = list(facts["checkouts"])
    busy = checkout_update.at_work(of_the_user(place))
    if busy:
        return f"{AT_WORK} {busy}"
    if refs.tip_of(cwd, ref) != before or sorted(having(place, ref)) != sorted(here):
        return MOVED_ON
    if here:
        trouble = checkout_update.fast_forward(here[0], ref, before, after, why)
    else:
        trouble = refs.move(cwd, ref, before, after, why)
    if not has(place, ref, after):
        if here and refs.tip_of(cwd, ref) == before:
            checkout_update.put_back(here[0], ref, before, after)  # a hook refuses when the files are there already
        return trouble or MOVED_ON
    return "" if bring(place, ref, before, after, here[1:], say, here[:1]) else MOVED_ON


def of_the_user(place: paths.Place) -> list[str]:
    """All checkouts but those of agents: there somebody may be about to check the branch out."""
    found = git_checkouts.all_of(place.git_folder, place.root, place.common)
    return [one.path for one in found if not one.path.startswith(place.home + "/agents/")]


def having(place: paths.Place, ref: str) -> list[str]:
    return [one.path for one in git_checkouts.all_of(place.git_folder, place.root, place.common) if one.ref == ref]


def bring(
    place: paths.Place, ref: str, start: str, end: str, known: list[str], say: Say, done: Sequence[str] = ()
) -> bool:
    """The branch is at `end`: these checkouts go along, then who has checked it out while it moved. False when it was
    moved again meanwhile, and is not: a rebase puts it back to where it had read it. Then they go back as well."""
    along(known, ref, start, end, say)
    checkout_update.at_work(of_the_user(place))
    if has(place, ref, end) and (refs.contains(place.git_folder, end, start) or not has(place, ref, start)):
        along(behind(having(place, ref), start, end, {*known, *done}), ref, start, end, say)
        return True
    if refs.tip_of(place.git_folder, ref) == start:
        along([*done, *known], ref, end, start, say)
    return False


def along(checkouts: Iterable[str], ref: str, start: str, end: str, say: Say) -> None:
    for path in checkouts:
        why = checkout_update.bring(path, ref, start, end)
        if why not in ("", checkout_update.AWAY):
            say(f"{path} has the branch checked out, and could not be brought along: {why}")


def behind(checkouts: Iterable[str], start: str, end: str, but: Container[str] = ()) -> list[str]:
    """What others have staged since, at `end`, is theirs."""
    return [path for path in checkouts if path not in but and git_checkouts.is_behind(path, start, end)]


def report_race(place: paths.Place, ref: str, start: str, end: str, say: Say) -> None:
    """Name the checkouts that switched to the branch at the moment when it moved, and have its old files; and say so
    when a git that began before has put the branch back. Asked when all else is done."""
    into, now = refs.name_of(ref), refs.tip_of(place.git_folder, ref)
    if now == start != end:
        say(f"Another git has moved {into} from {end[:12]} back to {start[:12]} meanwhile; look at: git reflog {into}")
    if now == end != start:
        for path in behind(having(place, ref), start, end):
            update = f"git -C {quoted(path)} read-tree -m -u {start[:12]} {end[:12]}"
            say(f"{path} has switched to {into} meanwhile, and has its files of before; to update them: {update}")


def has(place: paths.Place, ref: str, commit: str) -> bool:
    now = refs.tip_of(place.git_folder, ref)
    return bool(now) and refs.contains(place.git_folder, now, commit)


def refuse_at_work(checkouts: Iterable[str], patience: float) -> None:
    for path in checkouts:
        lock = checkout_update.settled(path, patience)
        if lock:
            rm = f"rm {quoted(lock)}"
            raise IbError(f"git is at work in {path}, or has died there; when no git runs: {rm}", hint=rm)


def has_moved(place: paths.Place, facts: dict[str, Any]) -> bool:
    """A git that the killed command had started may still be at it: it is waited for first."""
    refuse_stray(place, time.monotonic() + STRAY_PATIENCE)
    refuse_at_work(ours(place, facts), checkout_update.PATIENCE / TRIES)
    return has(place, str(facts["ref"]), str(facts["after"]))


def bring_along(place: paths.Place, facts: dict[str, Any], say: Say) -> None:
    """The branch has moved: the checkouts of it go along where they have not yet."""
    ref, before, after = str(facts["ref"]), str(facts["before"]), str(facts["after"])
    if is_at(place, facts, "after"):
        along(behind(having(place, ref), before, after), ref, before, after, say)


def take_along_back(place: paths.Place, facts: dict[str, Any], say: Say) -> None:
    """The branch has not moved: what a git that died has changed in its checkouts goes back."""
    for path in left(place, facts) if is_at(place, facts, "before") else ():
        why = checkout_update.put_back(path, str(facts["ref"]), str(facts["before"]), str(facts["after"]))
        if why:
            say(f"{path} could not be put back: {why}")


def is_at(place: paths.Place, facts: dict[str, Any], end: str) -> bool:
    """Is the branch at exactly this end of the merge?"""
    if facts["before"] == facts["after"]:
        return False
    return refs.tip_of(place.git_folder, str(facts["ref"])) == str(facts[end])


def left(place: paths.Place, facts: dict[str, Any]) -> list[str]:
    """The checkouts that were noted, and still have the branch."""
    return [path for path in ours(place, facts) if refs.head_of(path) == facts["ref"]]


def ours(place: paths.Place, facts: dict[str, Any]) -> list[str]:
    """Of the checkouts that were noted, those that this repository still has."""
    known = {one.path for one in checkouts(place)} if facts["checkouts"] else ()
    return [path for path in facts["checkouts"] if path in known]
