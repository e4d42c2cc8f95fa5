"""One entry of the queue, to its end: merged, in conflict, failed, or left for later.

Looked at while it is pending, taken when it can go; what its base is about to become is written down before it does:
a kill anywhere leaves what the next merger can judge.

The tests that a merge of the queue must pass, on the very commit that its base will be at.

A branch that nobody is closed with goes into its base. As with an agent's, what is about to be done is noted first:
whoever finds the note without its process mends the checkouts. What becomes of the entry, the next merger judges.
"""

import hashlib
from collections.abc import Callable

from ibstatus.board.port import Board
from ibstatus.errors import IbError
from ibstatus.merge import merge, move_branch, temp_checkout
from ibstatus.merge.preview import Plan
from ibstatus.merge.queue import preview
from ibstatus.merge.queue.preview import CONFLICT, FAILED, PENDING, Stopped, Work, becomes
from ibstatus.merge.rules import queue
from ibstatus.model.board import Entry
from ibstatus.project import agents, config, operations, paths
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
                move(self.place, plan, course, self.say)
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


class Gate:
    """`receipt` is that of the last test that counts; the same tree and commands are not tested twice."""

    def __init__(self, place: paths.Place, entry: Entry, say: Say) -> None:
        self.place = place
        self.say = say
        self.commands = queue.tests(everywhere(place), entry.test)
        self.receipt = entry.receipt

    def check(self, plan: Plan) -> None:
        tree = refs.tree_of(self.place.git_folder, plan.after)
        if not self.commands or plan.is_idle or queue.holds(self.receipt, tree, self.commands):
            return
        with becomes(PENDING), temp_checkout.checkout(self.place.git_folder, plan.after) as folder:
            for command in self.commands:
                self.try_out(command, folder, tree, plan)
        self.receipt = queue.receipt(tree, self.commands, 0)

    def try_out(self, command: str, folder: str, tree: str, plan: Plan) -> None:
        self.say(f"Testing {plan.after[:7]}: {command}")
        tried = temp_checkout.run(command, folder)
        if tried.code:
            receipt = queue.receipt(tree, [command], tried.code)
            raise Stopped(FAILED, queue.failed(command, tried.code, tried.last), receipt=receipt)

    @property
    def valid(self) -> dict[str, str | int] | None:
        """What goes into the entry: nothing where nothing is asked."""
        return self.receipt if self.commands else None


def everywhere(place: paths.Place) -> str | None:
    """The test of every merge. A file that cannot be read may ask for one."""
    known = config.load(place)
    if known.broken:
        raise Stopped(PENDING, known.broken[0].partition(";")[0])
    found = known.value("board.test")
    return str(found) if found else None


KIND = "move"


def key_of(base: str) -> str:
    """A name for files; no agent can be called so."""
    return "base@" + hashlib.sha256(base.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def move(place: paths.Place, plan: Plan, course: move_branch.Course, say: Say) -> Plan:
    with operations.begin(place, KIND, key_of(plan.ref), into=plan.ref) as op:
        try:
            plan = move_branch.carry(op, plan, course, say)
        except IbError:
            op.done()
            raise
        op.done()
    course.moved(plan)
    move_branch.report_race(place, plan.ref, plan.before, plan.after, say)
    return plan


def recover(op: operations.Operation, say: Say) -> None:
    """The checkouts of the base go along where it has moved, and back where it has not."""
    facts = op.facts.get("merge")
    if isinstance(facts, dict):
        if move_branch.has_moved(op.place, facts):
            move_branch.bring_along(op.place, facts, say)
        else:
            move_branch.take_along_back(op.place, facts, say)
    op.done()
