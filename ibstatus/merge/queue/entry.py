"""One entry of the queue, to its end: merged, in conflict, failed, or left for later.

Looked at while it is pending, taken when it can go; what its base is about to become is written down before it does:
a kill anywhere leaves what the next merger can judge.
"""

from collections.abc import Callable

from ibstatus.board.port import Board
from ibstatus.errors import IbError
from ibstatus.merge import merge, move_branch
from ibstatus.merge.preview import Plan
from ibstatus.merge.queue import moving, preview
from ibstatus.merge.queue.gate import Gate
from ibstatus.merge.queue.preview import CONFLICT, FAILED, PENDING, Stopped, Work
from ibstatus.merge.rules import queue
from ibstatus.model.board import Entry
from ibstatus.project import agents, operations, paths
from ibstatus.system.git import refs

Say = Callable[[str], None]
MERGER = "board"  # who closed the agent, in its record


def one(place: paths.Place, board: Board, entry: Entry, say: Say) -> Entry | None:
    """As it is afterwards; None when somebody else has taken it meanwhile. The lock of its base is held."""
    try:
        fresh = brought_up(place, board, entry)
        return fresh and Merger(place, board, fresh, say).run()
    except Stopped as stopped:
        return settled(board, entry, stopped, say)


def brought_up(place: paths.Place, board: Board, entry: Entry) -> Entry | None:
    """A branch that has gone on since goes with all that it has; unless its agent is at the next task already."""
    tip, cwd = preview.tip_of(place, entry), place.git_folder
    if tip in ("", entry.sha) or not queue.is_commit(entry.sha):
        return entry
    if not refs.contains(cwd, tip, entry.sha) or preview.works_on(board, entry):
        return entry
    if board.merging(entry.id) is None:
        return None
    return board.requeue(entry.id, sha=tip)


def settled(board: Board, entry: Entry, stopped: Stopped, say: Say) -> Entry | None:
    """Written down, and said, once: an entry that still waits for the same is left as it is."""
    now = board.entry(entry.id)
    if now is None or (now.status == stopped.status == PENDING and now.reason == stopped.message):
        return now
    if now.status == PENDING and board.merging(entry.id) is None:
        return None
    if stopped.status == CONFLICT:
        return board.conflicted(entry.id, stopped.files, stopped.message)
    if stopped.status == FAILED:
        return board.merge_failed(entry.id, stopped.message, stopped.receipt)
    if now.reason != stopped.message:
        say(queue.waits(entry.branch, entry.base, stopped.message))
    return board.requeue(entry.id, reason=stopped.message)


class Merger:
    """`intended`: what the board was told last that the base will be; `result`: the entry once it is merged."""

    def __init__(self, place: paths.Place, board: Board, entry: Entry, say: Say) -> None:
        self.place = place
        self.board = board
        self.entry = entry
        self.say = say
        self.gate = Gate(place, entry, say)
        self.intended = ""
        self.result: Entry | None = None

    def run(self) -> Entry | None:
        work = preview.work_of(self.place, self.board, self.entry)
        plan = preview.sure_plan_of(self.place, work)
        if self.board.merging(self.entry.id) is None:
            return None
        if plan.is_idle:  # nothing is moved, and nobody closed
            return self.board.merged(self.entry.id, plan.before)
        self.check(plan)
        with preview.becomes(PENDING):
            self.carry(work, plan)
        return self.result

    def check(self, plan: Plan) -> None:
        self.gate.check(plan)
        self.intend(plan)

    def intend(self, plan: Plan) -> None:
        if plan.after != self.intended and not plan.is_idle:
            self.board.intend(self.entry.id, plan.after, self.gate.valid)
            self.intended = plan.after

    def moved(self, plan: Plan) -> None:
        self.result = self.board.merged(self.entry.id, plan.after)

    def carry(self, work: Work, plan: Plan) -> None:
        course = move_branch.Course(
            lambda: preview.plan_of(self.place, work),
            self.check if self.gate.commands else None,
            preview.AGAIN,
            self.intend,
            self.moved,
        )
        try:
            if work.agent:
                self.close(plan, course)
            else:
                moving.move(self.place, plan, course, self.say)
        except move_branch.Stuck as stuck:
            raise Stopped(PENDING if stuck.passes else FAILED, queue.whole(stuck.message, stuck.cause)) from stuck

    def close(self, plan: Plan, course: move_branch.Course) -> None:
        """As `ib merge` does it: the agent is stopped, its branch merged, the agent kept for undo and taken away."""
        with operations.begin(self.place, "merge", plan.agent, by=MERGER, into=plan.ref) as op:
            if not agents.exists(self.place, plan.agent):
                op.done()
                raise IbError(f"{plan.agent} was closed meanwhile")
            try:
                merge.carry_out(op, plan, course, self.say)
            except (IbError, OSError) as error:
                if self.result is None:
                    raise
                self.say(f"{plan.agent} is merged, and could not be closed yet: {error}")
