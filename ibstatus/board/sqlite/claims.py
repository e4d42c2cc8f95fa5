"""Taking tasks, and the leases on them.

What an agent says of the task it holds: done, failed, given back, noted.
"""

import json
import sqlite3
from collections.abc import Sequence

from ibstatus.board import refusals
from ibstatus.board.port import Lost
from ibstatus.board.rules import validation
from ibstatus.board.sqlite import rows
from ibstatus.board.sqlite.merges import enqueued
from ibstatus.board.sqlite.tasks import Tasks
from ibstatus.model.board import Branch, Claimer, Fence, Note, NoteKind, Task, Template

BEST = """
SELECT n FROM tasks
WHERE status = 'ready' AND (:project IS NULL OR project_id = :project) AND priority >= :priority
  AND (capability IS NULL OR capability IN (SELECT value FROM json_each(:capabilities)))
ORDER BY priority DESC, n LIMIT :count
"""
CLAIM = """
UPDATE tasks SET status = 'claimed', attempt = attempt + 1, claimed_by = ?, claimed_at = ?, lease = ?, lease_end = ?,
                 lease_boot = ?, reason = ''
WHERE n = ?
"""
# However many tasks there are, those that are claimed are few.
RUN_OUT = """
SELECT n, id FROM tasks INDEXED BY tasks_open
WHERE status = 'claimed' AND (lease_end <= ? OR lease_boot <> ?) ORDER BY n
"""
# Out of an agent's hands without success: another attempt while there is one, else it has failed.
FAILED = """
UPDATE tasks SET reason = ?, claimed_by = NULL, lease_end = NULL,
    status = CASE WHEN attempt >= max_attempts THEN 'failed' ELSE (SELECT status FROM due WHERE n = tasks.n) END
WHERE n = ?
"""
EXTEND = "UPDATE tasks SET lease = ?, lease_end = ?, lease_boot = ? WHERE n = ?"


class Claims(Tasks):
    def claim(self, template: Template, who: Claimer, count: int = 1) -> list[Task]:
        with self.connection.change() as sql:
            return self.best(sql, template, who, count)

    def best(self, sql: sqlite3.Connection, template: Template, who: Claimer, count: int) -> list[Task]:
        given = {
            "project": template.project_id,
            "priority": validation.LOWEST if template.priority is None else template.priority,
            "capabilities": json.dumps(template.capabilities) if template.capabilities else "[]",
            "count": max(0, count),
        }
        best = sql.execute(BEST, given).fetchall()
        if len(best) < count and self.swept(sql):
            best = sql.execute(BEST, given).fetchall()
        return self.taken(sql, [n for (n,) in best], who)

    def claim_task(self, id: str, who: Claimer) -> Task:
        with self.connection.change() as sql:
            self.swept(sql)
            task = self.by_id(sql, id)
            if task.status != validation.READY:
                raise refusals.not_so(task, "and only a ready one can be claimed")
            return self.taken(sql, [self.n_of(sql, id)], who)[0]

    def taken(self, sql: sqlite3.Connection, ns: list[int], who: Claimer) -> list[Task]:
        lease = self.clock.lease(who.lease)
        for n in ns:
            sql.execute(CLAIM, (who.agent, self.clock.now(), *lease, n))
        return [self.by_n(sql, n) for n in ns]

    def sweep(self) -> list[str]:
        if not self.connection.all(RUN_OUT, (self.clock.monotonic(), self.clock.boot())):
            return []
        with self.connection.change() as sql:
            return self.swept(sql)

    def swept(self, sql: sqlite3.Connection) -> list[str]:
        over = sql.execute(RUN_OUT, (self.clock.monotonic(), self.clock.boot())).fetchall()
        for n, _ in over:
            sql.execute(FAILED, (validation.NO_SIGN, n))
        return [id for _, id in over]

    def beat(self, fence: Fence, lease: float) -> Task:
        with self.connection.change() as sql:
            n = self.held(sql, fence)
            sql.execute(EXTEND, (*self.clock.lease(lease), n))
            return self.by_n(sql, n)

    def held(self, sql: sqlite3.Connection, fence: Fence) -> int:
        """The task of this fence, or `Lost`."""
        row = sql.execute("SELECT n, claimed_by, attempt FROM tasks WHERE id = ?", (fence.task_id,)).fetchone()
        if row is None:
            raise refusals.not_there(fence.task_id)
        n, holder, attempt = row
        if holder != fence.agent or fence.attempt not in (None, attempt):
            raise refusals.lost(fence, self.by_n(sql, n))
        return int(n)


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
