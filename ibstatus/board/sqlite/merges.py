"""The merge queue."""

import json
import sqlite3
from collections.abc import Sequence

import msgspec

from ibstatus.board import refusals
from ibstatus.board.rules import validation
from ibstatus.board.sqlite import rows as records
from ibstatus.board.sqlite.tasks import Tasks, bounded
from ibstatus.model.board import Branch, Entry

ENQUEUE = """
INSERT INTO merge_queue (task, agent_id, repo, branch, base, sha, test, linear, enqueued_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
IS_OPEN = "status <> 'merged' AND abandoned = 0"
LISTED = f"""
WHERE (:repo IS NULL OR repo = :repo) AND (:open = 0 OR ({IS_OPEN})) ORDER BY id
"""
TAKE = """
UPDATE merge_queue SET status = 'merging', started_at = ?, completed_at = NULL, merge_sha = NULL
WHERE id = ? AND status = 'pending'
"""
INTEND = "UPDATE merge_queue SET merge_sha = ?, receipt = ? WHERE id = ?"
MERGED = "UPDATE merge_queue SET status = 'merged', merge_sha = ?, reason = '', completed_at = ? WHERE id = ?"
CONFLICTED = """
UPDATE merge_queue SET status = 'conflict', conflict_files = ?, reason = ?, merge_sha = NULL, completed_at = ?
WHERE id = ?
"""
FAILED = """
UPDATE merge_queue SET status = 'failed', reason = ?, receipt = coalesce(?, receipt), merge_sha = NULL, completed_at = ?
WHERE id = ?
"""
REQUEUE = """
UPDATE merge_queue SET status = 'pending', sha = coalesce(?, sha), reason = ?, abandoned = 0, merge_sha = NULL,
                       conflict_files = '[]', started_at = NULL, completed_at = NULL
WHERE id = ?
"""
ABANDON = "UPDATE merge_queue SET status = 'failed', abandoned = 1, reason = ?, completed_at = ? WHERE id = ?"


class Merges(Tasks):
    def entries(self, repo: str | None = None, open_only: bool = False) -> list[Entry]:
        rows = self.connection.all(records.ENTRY + LISTED, {"repo": repo, "open": open_only})
        return [records.entry(row) for row in rows]

    def entry(self, id: int) -> Entry | None:
        row = self.connection.one(records.ENTRY + " WHERE id = ?", (bounded(id),))
        return records.entry(row) if row else None

    def take_over(self, former: str, repo: str) -> None:
        """What was queued for a repository that has another id by now."""
        if self.connection.one("SELECT 1 FROM merge_queue WHERE repo = ? LIMIT 1", (former,)):
            with self.connection.change() as sql:
                sql.execute("UPDATE merge_queue SET repo = ? WHERE repo = ?", (repo, former))

    def enqueue(self, task_id: str, agent: str, branch: Branch) -> Entry:
        with self.connection.change() as sql:
            task = self.by_id(sql, task_id)
            if task.status != validation.DONE:
                raise refusals.not_so(task, "and only a branch of one that is done is merged")
            return known(sql, enqueued(sql, self.n_of(sql, task_id), agent, branch, self.clock.now()))

    def merging(self, id: int) -> Entry | None:
        with self.connection.change() as sql:
            known(sql, id)
            taken = sql.execute(TAKE, (self.clock.now(), id)).rowcount
            return known(sql, id) if taken else None

    def intend(self, id: int, merge_sha: str, receipt: dict[str, str | int] | None) -> None:
        with self.connection.change() as sql:
            being_merged(sql, id)
            sql.execute(INTEND, (merge_sha, encoded(receipt), id))

    def merged(self, id: int, merge_sha: str) -> Entry:
        with self.connection.change() as sql:
            being_merged(sql, id)
            sql.execute(MERGED, (merge_sha, self.clock.now(), id))
            return known(sql, id)

    def conflicted(self, id: int, files: Sequence[str], reason: str) -> Entry:
        with self.connection.change() as sql:
            being_merged(sql, id)
            sql.execute(CONFLICTED, (json.dumps(list(files)), reason, self.clock.now(), id))
            return known(sql, id)

    def merge_failed(self, id: int, reason: str, receipt: dict[str, str | int] | None = None) -> Entry:
        with self.connection.change() as sql:
            being_merged(sql, id)
            sql.execute(FAILED, (reason, encoded(receipt), self.clock.now(), id))
            return known(sql, id)

    def requeue(self, id: int, sha: str | None = None, reason: str = "") -> Entry:
        with self.connection.change() as sql:
            entry = known(sql, id)
            if entry.status == validation.M_MERGED:
                raise refusals.not_mergeable(entry, "so there is nothing left to merge")
            refuse_second(sql, entry.task_id, id)
            sql.execute(REQUEUE, (sha, reason, id))
            return known(sql, id)

    def abandon(self, id: int, reason: str) -> Entry:
        with self.connection.change() as sql:
            entry = known(sql, id)
            if entry.status in (validation.M_MERGED, validation.M_MERGING):
                raise refusals.not_mergeable(entry, "so it cannot be abandoned")
            if not entry.abandoned:
                sql.execute(ABANDON, (reason, self.clock.now(), id))
            return known(sql, id)


def enqueued(sql: sqlite3.Connection, n: int, agent: str, branch: Branch, now: str) -> int:
    (task_id,) = sql.execute("SELECT id FROM tasks WHERE n = ?", (n,)).fetchone()
    refuse_second(sql, task_id)
    what = (branch.repo, branch.branch, branch.base, branch.sha, branch.test, branch.linear)
    return int(sql.execute(ENQUEUE, (n, agent, *what, now)).lastrowid or 0)


def refuse_second(sql: sqlite3.Connection, task_id: str, but: int = 0) -> None:
    """Dependents wait for one open entry of a task."""
    found = sql.execute(f"{records.ENTRY} WHERE task_id = ? AND id <> ? AND {IS_OPEN}", (task_id, but)).fetchone()
    if found:
        raise refusals.queued_already(records.entry(found))


def known(sql: sqlite3.Connection, id: int) -> Entry:
    row = sql.execute(records.ENTRY + " WHERE id = ?", (bounded(id),)).fetchone()
    if row is None:
        raise refusals.no_entry(id)
    return records.entry(row)


def being_merged(sql: sqlite3.Connection, id: int) -> Entry:
    entry = known(sql, id)
    if entry.status != validation.M_MERGING:
        raise refusals.not_mergeable(entry, "and nobody is merging it")
    return entry


def encoded(receipt: dict[str, str | int] | None) -> str | None:
    return None if receipt is None else msgspec.json.encode(receipt).decode()
