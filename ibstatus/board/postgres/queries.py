"""Asking the board's SQL: rows become records, and no row becomes the reason why."""

from collections.abc import Sequence
from typing import LiteralString

from psycopg.types.json import Jsonb

from ibstatus.board import refusals
from ibstatus.board.port import Gone
from ibstatus.board.postgres.connection import Connection, Refused, Row, Values
from ibstatus.board.rules import validation as rules
from ibstatus.errors import IbError
from ibstatus.model.board import Branch, Claimer, Entry, Fence, Task, Template

STALE, ABSENT, CIRCLE, TAKEN = "IB001", "IB002", "IB003", "IB004"  # 003_operations.sql, 006_done_and_claim.sql
ENTRY: LiteralString = "SELECT * FROM shown_entries WHERE id = %s"
SECOND: LiteralString = (
    "SELECT * FROM shown_entries WHERE task_id = %s AND id <> %s AND status <> 'merged' AND NOT abandoned"
)
ENDED: LiteralString = "SELECT * FROM merge_ended(%s,%s,%s,%s::text[],%s,%s)"


GREATEST = (1 << 63) - 1
FEW = (1 << 31) - 1


class Asking:
    """What the store's calls have in common."""

    def __init__(self, opened: Connection) -> None:
        self.opened = opened

    def asked(self, statement: LiteralString, values: Values, fences: Sequence[Fence] = ()) -> list[Row]:
        try:
            return self.opened.all(statement, values)
        except Refused as refused:
            raise self.reason(refused, fences) from None

    def reason(self, refused: Refused, fences: Sequence[Fence]) -> IbError:
        if refused.code == STALE:
            return self.lost(next(one for one in fences if one.task_id == refused.about))
        if refused.code == CIRCLE:
            return refusals.circle(refused.about.split("|"))
        if refused.code == TAKEN:
            return IbError(f"There is a task '{refused.about}' already", hint=rules.shown(refused.about))
        return refusals.not_there(refused.about)

    def tasks_of(self, statement: LiteralString, values: Values, fences: Sequence[Fence] = ()) -> list[Task]:
        """Of the view `shown`, whose last column only sorts."""
        return [Task(*row[:-1]) for row in self.asked(statement, values, fences)]

    def told(self, statement: LiteralString, values: Values, fences: Sequence[Fence] = ()) -> list[Task]:
        """Of a procedure, whose one answer is the rows of `shown` as JSON."""
        ((rows,),) = self.asked(statement, values, fences)
        return [Task(*list(row.values())[:-1]) for row in rows]

    def kept(self, rows: list[Row]) -> list[Row]:
        """What is told of events stays, and so do their numbers. A role that may only read tells what it sees."""
        try:
            if rows:
                self.opened.all("SELECT flush()")
        except Gone:
            raise
        except IbError:
            pass
        return rows

    def shown(self, id: str) -> Task | None:
        found = self.tasks_of("SELECT * FROM shown WHERE id = %s", (id,))
        return found[0] if found else None

    def one_task(self, statement: LiteralString, values: Values, wanted: str) -> Task:
        """The first value is its id; `wanted` says what it would have had to be."""
        rows = self.tasks_of(statement, values)
        if not rows:
            raise self.refused(str(values[0]), wanted)  # type: ignore[index]
        return rows[0]

    def refused(self, id: str, wanted: str) -> IbError:
        task = self.shown(id)
        return refusals.not_so(task, wanted) if task else refusals.not_there(id)

    def held(self, statement: LiteralString, fence: Fence, *values: object) -> Task:
        rows = self.tasks_of(statement, (fence.task_id, fence.agent, fence.attempt, *values))
        if not rows:
            raise self.lost(fence)
        return rows[0]

    def lost(self, fence: Fence) -> IbError:
        task = self.shown(fence.task_id)
        return refusals.lost(fence, task) if task else refusals.not_there(fence.task_id)

    def one_entry(self, statement: LiteralString, id: int, values: tuple[object, ...], wanted: str) -> Entry:
        row = self.opened.one(statement, (bounded(id), *values))
        if row is None:
            raise self.refused_entry(id, wanted)
        return Entry(*row)

    def refuse_second(self, task_id: str, but: int = 0) -> None:
        """Dependents wait for one open entry of a task."""
        row = self.opened.one(SECOND, (task_id, but))
        if row:
            raise refusals.queued_already(Entry(*row))

    def refused_entry(self, id: int, wanted: str) -> IbError:
        row = self.opened.one(ENTRY, (bounded(id),))
        return refusals.not_mergeable(Entry(*row), wanted) if row else refusals.no_entry(id)


def columns(fences: Sequence[Fence]) -> tuple[list[str], list[str], list[int | None]]:
    return [one.task_id for one in fences], [one.agent for one in fences], [one.attempt for one in fences]


def only(fences: Sequence[Fence]) -> tuple[str, str, int | None]:
    if len(fences) != 1:
        raise refusals.one_branch()
    (fence,) = fences
    return fence.task_id, fence.agent, fence.attempt


def fitting(template: Template, who: Claimer, count: int) -> tuple[object, ...]:
    wanted = (template.project_id, list(template.capabilities), template.priority)
    return (*wanted, who.agent, who.lease, few(count), rules.NO_SIGN)


def bounded(number: int) -> int:
    """What people type can be greater than any number that a server knows."""
    return max(0, min(number, GREATEST))


def few(count: int) -> int:
    return max(0, min(count, FEW))


def parts(branch: Branch) -> tuple[str | bool, ...]:
    return branch.repo, branch.branch, branch.base, branch.sha, branch.test, branch.linear


def json(receipt: dict[str, str | int] | None) -> Jsonb | None:
    return None if receipt is None else Jsonb(receipt)
