"""What an agent says of the task it holds: done, failed, given back, noted."""

import sqlite3
from collections.abc import Sequence

from ibstatus.board import refusals
from ibstatus.board.port import Lost
from ibstatus.board.rules import validation
from ibstatus.board.sqlite import rows
from ibstatus.board.sqlite.claims import FAILED, Claims
from ibstatus.board.sqlite.merges import enqueued
from ibstatus.model.board import Branch, Claimer, Fence, Note, NoteKind, Task, Template

DONE = """
UPDATE tasks SET status = 'done', done_by = claimed_by, claimed_by = NULL, lease_end = NULL, summary = ?, done_at = ?,
                 reason = ''
WHERE n = ?
"""
# The attempt does not count: there is one more, and so the trigger tells of no failure.
RELEASED = """
UPDATE tasks SET reason = ?, claimed_by = NULL, lease_end = NULL, max_attempts = max_attempts + 1,
                 status = (SELECT status FROM due WHERE n = tasks.n)
WHERE n = ?
"""
OWN_LEASE = """
UPDATE tasks SET lease_end = ? + lease, lease_boot = ? WHERE n = ? AND claimed_by = ?
"""
ADD_NOTE = "INSERT INTO notes (task, agent_id, kind, content, created_at) VALUES (?, ?, ?, ?, ?)"


class Endings(Claims):
    def done(self, fences: Sequence[Fence], summary: str = "", branch: Branch | None = None) -> list[Task]:
        with self.connection.change() as sql:
            return self.all_finished(sql, fences, summary, branch)

    def all_finished(
        self, sql: sqlite3.Connection, fences: Sequence[Fence], summary: str, branch: Branch | None
    ) -> list[Task]:
        if branch is not None and len(fences) != 1:
            raise refusals.one_branch()
        return [self.finished(sql, fence, summary, branch) for fence in fences]

    def done_and_claim(
        self,
        fences: Sequence[Fence],
        template: Template,
        who: Claimer,
        summary: str = "",
        branch: Branch | None = None,
        count: int = 1,
    ) -> list[Task]:
        with self.connection.change() as sql:
            self.all_finished(sql, fences, summary, branch)
            return self.best(sql, template, who, count)

    def finished(self, sql: sqlite3.Connection, fence: Fence, summary: str, branch: Branch | None) -> Task:
        try:
            n = self.held(sql, fence)
        except Lost:
            return self.said_before(sql, fence)
        if branch is not None:
            enqueued(sql, n, fence.agent, branch, self.clock.now())
        if summary:
            self.put_note(sql, n, fence.agent, "result", summary)
        sql.execute(DONE, (summary, self.clock.now(), n))
        return self.by_n(sql, n)

    def said_before(self, sql: sqlite3.Connection, fence: Fence) -> Task:
        """The first answer got lost: it is the same answer."""
        task = self.by_id(sql, fence.task_id)
        if task.done_by != fence.agent or fence.attempt not in (None, task.attempt):
            raise refusals.lost(fence, task)
        return task

    def fail(self, fence: Fence, reason: str) -> Task:
        with self.connection.change() as sql:
            n = self.held(sql, fence)
            if reason:
                self.put_note(sql, n, fence.agent, "failure", reason)
            sql.execute(FAILED, (reason, n))
            return self.by_n(sql, n)

    def release(self, fence: Fence, reason: str = "") -> Task:
        with self.connection.change() as sql:
            n = self.held(sql, fence)
            sql.execute(RELEASED, (reason, n))
            return self.by_n(sql, n)

    def take_back(self, id: str, reason: str) -> Task:
        with self.connection.change() as sql:
            task = self.by_id(sql, id)
            if task.status != validation.CLAIMED:
                raise refusals.not_so(task, "so there is nobody to take it from")
            n = self.n_of(sql, id)
            sql.execute(RELEASED, (reason, n))
            return self.by_n(sql, n)

    def note(self, id: str, agent: str, kind: NoteKind, content: str) -> Note:
        with self.connection.change() as sql:
            n = self.n_of(sql, id)
            number = self.put_note(sql, n, agent, kind, content)
            sql.execute(OWN_LEASE, (self.clock.monotonic(), self.clock.boot(), n, agent))
            return rows.note(sql.execute(rows.NOTE + " WHERE c.id = ?", (number,)).fetchone())

    def put_note(self, sql: sqlite3.Connection, n: int, agent: str, kind: NoteKind, content: str) -> int:
        return int(sql.execute(ADD_NOTE, (n, agent, kind, content, self.clock.now())).lastrowid or 0)
