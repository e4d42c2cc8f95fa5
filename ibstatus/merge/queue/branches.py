"""Which branch a finished task hands to the merge queue, and into which one it goes."""

from ibstatus.board.caller import Desk, entry_of
from ibstatus.board.port import Board
from ibstatus.board.rules import validation
from ibstatus.errors import IbError, UsageError
from ibstatus.merge import preview
from ibstatus.merge.rules import queue
from ibstatus.model.board import Branch, Fence
from ibstatus.project import agent_meta, agents, authority, config, home, identity, paths
from ibstatus.state import session_end
from ibstatus.system.git import refs


def handed_in(desk: Desk, task_id: str, branch: str, into: str, cwd: str) -> Branch | None:
    """None when there is nothing to merge. An agent of ib hands in its own branch without being asked."""
    if branch:
        return named(desk, task_id, branch, into, cwd)
    if into:
        raise UsageError("--into goes with --branch", hint="ib board done ID --branch BRANCH --into BASE")
    if desk.caller.kind != identity.AGENT:
        return None
    return of_agent(desk.place, desk.caller.name, test_of(desk, task_id))


def test_of(desk: Desk, task_id: str) -> str:
    found = desk.board.task(task_id)
    return found.test if found is not None else ""


def named(desk: Desk, task_id: str, branch: str, into: str, cwd: str) -> Branch:
    ref = preview.named(desk.place, branch)
    refuse_others(desk, ref)
    base = preview.named(desk.place, into) if into else usual_base(desk, cwd)
    if not base:
        raise IbError("No branch is checked out here: into which one is it to be merged?", hint="--into BRANCH")
    if ref == base:
        raise UsageError(f"{branch} cannot be merged into itself", hint="--into BRANCH")
    return made(desk.place, ref, base, test_of(desk, task_id))


def of_agent(place: paths.Place, agent: str, test: str) -> Branch | None:
    """The branch of an agent, into the one that it began at; None when it has no commit of its own."""
    known = agent_meta.read(place, agent)
    ref = preview.branch_of(agent)
    base = base_of(place, agent)
    tip = refs.tip_of(place.git_folder, ref)
    if known.get("worktree") is False or not tip or not base or base == ref:
        return None
    if refs.contains(place.git_folder, base, tip):
        return None
    return made(place, ref, base, test)


def refuse_others(desk: Desk, ref: str) -> None:
    """The queue closes the agent whose branch it merges: nobody hands in that of an agent on whom they may not act."""
    folder, _, agent = refs.name_of(ref).rpartition("/")
    if folder == "agent" and agents.exists(desk.place, agent):
        authority.check(desk.place, desk.caller, agent, "hand in the branch of")


def usual_base(desk: Desk, cwd: str) -> str:
    """What is checked out where the caller stands; for an agent, which stands on its own branch, where it began."""
    if desk.caller.kind == identity.AGENT:
        return base_of(desk.place, desk.caller.name)
    return refs.head_of(preview.checkout_at(desk.place, cwd))


def refuse_late(desk: Desk, task_id: str, handed: Branch) -> None:
    """Said twice, a `done` is the same answer, so the branch of the second one may be another."""
    entry = entry_of(desk, task_id)
    if entry is None or (entry.branch, entry.base) != (handed.branch, handed.base):
        raise IbError(
            f"{handed.branch} is not queued: the task {task_id} was done before, without it",
            hint=validation.shown(task_id),
        )


def base_of(place: paths.Place, agent: str) -> str:
    known = str(agent_meta.read(place, agent).get("base") or "")
    return refs.branch_of(place.git_folder, known) or refs.head_of(place.root)


def made(place: paths.Place, ref: str, base: str, test: str) -> Branch:
    home.enter(place)  # with a server as board there may be no name of this repository yet
    tip = refs.tip_of(place.git_folder, ref)
    linear = bool(config.value(place, "board.linear"))
    return Branch(agent_meta.repo_id(place), refs.name_of(ref), refs.name_of(base), tip, test, linear)


def finish(place: paths.Place, tasks: Board, mine: Fence, said: str) -> str:
    """The agent is complete, so its task is done, and its branch is queued when it has commits. Returns what to say."""
    task = tasks.task(mine.task_id)
    if task is None or task.status != validation.CLAIMED:
        return ""
    branch = of_agent(place, mine.agent, task.test)
    left = [line[3:] for line in session_end.uncommitted(place, mine.agent)]
    tasks.done([mine], queue.summary(said, left), branch)
    queued = f"; {branch.branch} is queued for {branch.base}" if branch is not None else ""
    return f"{mine.agent} is complete: task {task.id} is done{queued}"
