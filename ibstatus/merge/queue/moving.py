"""A branch that nobody is closed with goes into its base. As with an agent's, what is about to be done is noted first:
whoever finds the note without its process mends the checkouts. What becomes of the entry, the next merger judges.
"""

import hashlib
from collections.abc import Callable

from ibstatus.errors import IbError
from ibstatus.merge import move_branch
from ibstatus.merge.preview import Plan
from ibstatus.project import operations, paths

Say = Callable[[str], None]
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
