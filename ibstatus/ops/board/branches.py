"""Which branch a finished task hands to the merge queue, and into which one it goes."""

from ibstatus.drivers import git_refs
from ibstatus.errors import IbError, UsageError
from ibstatus.model.board import Branch
from ibstatus.ops import forecast
from ibstatus.ops.board.desk import Desk
from ibstatus.rules import identity
from ibstatus.store import config, fleet, home, meta, places


def handed_in(desk: Desk, task_id: str, branch: str, into: str) -> Branch | None:
    """None when there is nothing to merge. An agent of ib hands in its own branch without being asked."""
    if branch:
        return named(desk, task_id, branch, into)
    if into:
        raise UsageError("--into goes with --branch", hint="ib board done ID --branch BRANCH --into BASE")
    if desk.caller.kind != identity.AGENT:
        return None
    return of_agent(desk.place, desk.caller.name, test_of(desk, task_id))


def test_of(desk: Desk, task_id: str) -> str:
    found = desk.board.task(task_id)
    return found.test if found is not None else ""


def named(desk: Desk, task_id: str, branch: str, into: str) -> Branch:
    ref = forecast.named(desk.place, branch)
    base = forecast.named(desk.place, into) if into else git_refs.head_of(desk.place.root)
    if not base:
        raise IbError("No branch is checked out here: into which one is it to be merged?", hint="--into BRANCH")
    if ref == base:
        raise UsageError(f"{branch} cannot be merged into itself", hint="--into BRANCH")
    return made(desk.place, ref, base, test_of(desk, task_id))


def of_agent(place: places.Place, agent: str, test: str) -> Branch | None:
    """The branch of an agent, into the one that it began at; None when it has no commit of its own."""
    known = meta.read(place, agent)
    ref = forecast.branch_of(agent)
    base = git_refs.branch_of(place.git_folder, str(known.get("base") or "")) or git_refs.head_of(place.root)
    tip = git_refs.tip_of(place.git_folder, ref)
    if known.get("worktree") is False or not tip or not base or base == ref:
        return None
    if git_refs.contains(place.git_folder, base, tip):
        return None
    return made(place, ref, base, test)


def made(place: places.Place, ref: str, base: str, test: str) -> Branch:
    home.enter(place)  # with a server as board there may be no name of this repository yet
    tip = git_refs.tip_of(place.git_folder, ref)
    linear = bool(config.value(place, "board.linear"))
    return Branch(fleet.repo_id(place), git_refs.name_of(ref), git_refs.name_of(base), tip, test, linear)
