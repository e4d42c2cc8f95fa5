"""What would come out of one entry of the queue, looked at and made without touching a branch, an index or a file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ibstatus.board.port import Board, Gone, Lost
from ibstatus.board.rules import validation as rule
from ibstatus.errors import IbError
from ibstatus.merge import move_branch, preview
from ibstatus.merge.preview import Made, Plan
from ibstatus.merge.rules import queue, text
from ibstatus.model.board import Entry, MergeStatus
from ibstatus.project import agents, paths
from ibstatus.system.git import merge_tree, refs

PENDING: MergeStatus = "pending"
CONFLICT: MergeStatus = "conflict"
FAILED: MergeStatus = "failed"
AGAIN = "ib board merge"


class Stopped(IbError):
    """Why an entry is not merged now; `status` is what becomes of it."""

    def __init__(
        self,
        status: MergeStatus,
        reason: str,
        files: Sequence[str] = (),
        receipt: dict[str, str | int] | None = None,
    ) -> None:
        super().__init__(queue.storable(reason))
        self.status = status
        self.files = [queue.storable(name) for name in files]
        self.receipt = receipt


class Work(NamedTuple):
    """A commit of a branch that is to go into another one, both by their whole names; `branch` is '' when it is gone.
    `agent` is closed with it, or ''."""

    branch: str
    base: str
    sha: str
    agent: str
    message: bytes
    linear: bool


@contextmanager
def becomes(status: MergeStatus) -> Iterator[None]:
    """What is refused in here stops the entry so; what the board itself says goes through."""
    try:
        yield
    except (Stopped, Gone, Lost):
        raise
    except IbError as error:
        raise Stopped(status, queue.whole(error.message, error.cause)) from error


def base_of(place: paths.Place, entry: Entry) -> str:
    """The whole name of the branch that it goes into; behind a symbolic one the real one; also when it is gone."""
    return refs.branch_of(place.git_folder, entry.base) or refs.HEADS + refs.name_of(entry.base)


def tip_of(place: paths.Place, entry: Entry) -> str:
    branch = refs.branch_of(place.git_folder, entry.branch)
    return refs.tip_of(place.git_folder, branch) if branch else ""


def work_of(place: paths.Place, board: Board, entry: Entry) -> Work:
    """Just the commit that was queued: what the branch has beyond it belongs to a later task."""
    cwd, base, branch = place.git_folder, base_of(place, entry), refs.branch_of(place.git_folder, entry.branch)
    tip, now = tip_of(place, entry), refs.tip_of(cwd, base)
    if not queue.is_commit(entry.sha):
        raise Stopped(FAILED, f"{entry.sha!r} is no commit")
    if not now:
        raise Stopped(FAILED, f"There is no branch {entry.base} here, or it has no commit")
    if branch == base:
        raise Stopped(FAILED, f"{entry.branch} cannot be merged into itself")
    if not refs.contains(cwd, now, entry.sha):
        if not tip:
            raise Stopped(FAILED, f"The branch {entry.branch} is gone; it was at {entry.sha[:12]}")
        if not refs.contains(cwd, tip, entry.sha):
            raise Stopped(FAILED, f"{entry.branch} was rewritten since: {entry.sha[:12]} is not in it any more")
    task = board.task(entry.task_id)
    message = queue.message(refs.name_of(entry.branch), entry.task_id, task.title if task else "")
    work = Work(branch, base, entry.sha, "", message, entry.linear)
    return work._replace(agent=closed_with(place, board, entry, tip))


def closed_with(place: paths.Place, board: Board, entry: Entry, tip: str) -> str:
    """The agent whose branch this is, when nothing of its work is left out; '' while it works on."""
    folder, _, agent = refs.name_of(entry.branch).rpartition("/")
    if folder != "agent" or tip != entry.sha or not agents.exists(place, agent) or works_on(board, entry):
        return ""
    return agent


def works_on(board: Board, entry: Entry) -> bool:
    """Has its agent another task, or its branch another entry? Then both are needed yet."""
    claimed = board.tasks(statuses=(rule.CLAIMED,))
    others = [one for one in board.entries(entry.repo, open_only=True) if one.id != entry.id]
    return any(task.claimed_by == entry.agent_id for task in claimed) or any(
        one.branch == entry.branch for one in others
    )


def plan_of(place: paths.Place, work: Work) -> Plan:
    """Raises `Stopped` with what becomes of the entry; leaves nothing but commits without a name."""
    cwd, into = place.git_folder, refs.name_of(work.base)
    before = refs.tip_of(cwd, work.base)
    commits = refs.commits(cwd, before, work.sha)
    if work.agent and commits:
        look_at_agent(place, work, into, before)
    with becomes(FAILED):
        made = result(cwd, work, before) if commits else Made(before)
    if made.conflicts:
        branch = refs.name_of(work.branch)
        raise Stopped(CONFLICT, text.conflicts(branch, into, made.conflicts, made.at), made.conflicts)
    with becomes(PENDING):
        here = preview.going_along(place, work.base, before, made.after, AGAIN)
    return Plan(work.agent, work.sha, work.base, before, made.after, here, commits, work.linear, "", work.branch)


def sure_plan_of(place: paths.Place, work: Work) -> Plan:
    """What is in the way may be what another merge just writes: looked at once more in our turn."""
    try:
        return plan_of(place, work)
    except Stopped as stopped:
        if stopped.status != PENDING:
            raise
        with becomes(PENDING), move_branch.turn(place):
            return plan_of(place, work)


def look_at_agent(place: paths.Place, work: Work, into: str, before: str) -> None:
    """What is uncommitted nobody will commit by itself; what was committed just now is merged the next time."""
    if refs.tip_of(place.git_folder, work.branch) != work.sha:
        raise Stopped(PENDING, f"{work.agent} has committed meanwhile")
    with becomes(FAILED):
        preview.look_at_agent(place, work.agent, work.sha, into, before, "")


def result(cwd: str, work: Work, before: str) -> Made:
    """Linear: commit by commit. A branch with merges in it cannot be carried so: all of it becomes one commit."""
    if not work.linear or not refs.commits(cwd, before, work.sha, "--merges"):
        return preview.result(cwd, work.message, before, work.sha, work.linear)
    made = merge_tree.merged(cwd, before, work.sha)
    if made.conflicts:
        return Made("", made.conflicts)
    return Made(merge_tree.commit(cwd, made.tree, (before,), work.message, {}))
