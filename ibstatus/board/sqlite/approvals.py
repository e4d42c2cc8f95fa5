"""What people decide: that a task may begin, shall not be done, waits for another, or is tried again."""

import sqlite3
from collections.abc import Sequence

from ibstatus.board import refusals
from ibstatus.board.rules import validation
from ibstatus.board.sqlite.tasks import BEGIN, Tasks, depend_on
from ibstatus.model.board import Task

APPROVE = "UPDATE tasks SET approved_by = ? WHERE n = ? AND requires_approval = 1 AND approved_by IS NULL"
REJECT = "UPDATE tasks SET status = 'rejected', rejected_by = ?, reason = ? WHERE n = ?"
RETRY = """
UPDATE tasks SET max_attempts = attempt + given_attempts, reason = '', rejected_by = NULL,
                 status = (SELECT status FROM due WHERE n = tasks.n)
WHERE n = ?
"""
EDGES = "SELECT t.id, p.id FROM dependencies d JOIN tasks t ON t.n = d.task JOIN tasks p ON p.n = d.dependency"


class Decisions(Tasks):
    def publish(self, id: str) -> Task:
        with self.connection.change() as sql:
            n = self.standing(sql, id, (validation.DRAFT,), "not a draft")
            sql.execute(BEGIN, (n,))
            return self.by_n(sql, n)

    def approve(self, id: str, by: str) -> Task:
        with self.connection.change() as sql:
            n = self.standing(sql, id, (*WAITING, validation.CLAIMED), "so it needs no approval")
            sql.execute(APPROVE, (by, n))
            sql.execute("INSERT INTO settle VALUES (?)", (n,))
            return self.by_n(sql, n)

    def reject(self, id: str, by: str, reason: str) -> Task:
        with self.connection.change() as sql:
            n = self.standing(sql, id, (*WAITING, validation.FAILED, validation.REJECTED), "too late to reject it")
            sql.execute(REJECT, (by, reason, n))
            return self.by_n(sql, n)

    def depend(self, id: str, on: Sequence[str]) -> Task:
        with self.connection.change() as sql:
            n = self.standing(sql, id, WAITING, "so it waits for nothing any more")
            ids = [self.n_of(sql, one) for one in on]
            refuse_circle(sql, id, on)
            depend_on(sql, n, ids)
            sql.execute("INSERT INTO settle VALUES (?)", (n,))
            return self.by_n(sql, n)

    def undepend(self, id: str, on: Sequence[str]) -> Task:
        with self.connection.change() as sql:
            n = self.standing(sql, id, WAITING, "so it waits for nothing any more")
            edges = [(n, self.n_of(sql, one)) for one in on]
            sql.executemany("DELETE FROM dependencies WHERE task = ? AND dependency = ?", edges)
            sql.execute("INSERT INTO settle VALUES (?)", (n,))
            return self.by_n(sql, n)

    def retry(self, id: str) -> Task:
        with self.connection.change() as sql:
            n = self.standing(sql, id, (validation.FAILED, validation.REJECTED), "so there is nothing to try again")
            sql.execute(RETRY, (n,))
            return self.by_n(sql, n)

    def standing(self, sql: sqlite3.Connection, id: str, statuses: Sequence[str], wanted: str) -> int:
        """The task, in one of these statuses."""
        task = self.by_id(sql, id)
        if task.status not in statuses:
            raise refusals.not_so(task, wanted)
        return self.n_of(sql, id)


WAITING = (validation.DRAFT, validation.PENDING, validation.PENDING_APPROVAL, validation.READY)


def refuse_circle(sql: sqlite3.Connection, id: str, on: Sequence[str]) -> None:
    edges: dict[str, list[str]] = {}
    for task, dependency in sql.execute(EDGES):
        edges.setdefault(task, []).append(dependency)
    for one in on:
        way = validation.way_round(edges, id, one)
        if way:
            raise refusals.circle(way)
