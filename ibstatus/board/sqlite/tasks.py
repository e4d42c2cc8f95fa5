"""Putting tasks down, and looking at what there is.

What people decide: that a task may begin, shall not be done, waits for another, or is tried again.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence

from ibstatus.board import refusals
from ibstatus.board.rules import validation
from ibstatus.board.sqlite import rows
from ibstatus.board.sqlite.connection import Connection
from ibstatus.errors import IbError
from ibstatus.model.board import Hit, NewTask, Note, Task

ADD = """
INSERT INTO tasks (id, title, project_id, priority, capability, test, max_attempts, given_attempts, requires_approval,
                   created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
BEGIN = "UPDATE tasks SET status = (SELECT status FROM due WHERE n = tasks.n) WHERE n = ?"
BEGINS_WITH = "SELECT id FROM tasks WHERE id >= :it AND substr(id, 1, length(:it)) = :it ORDER BY id"
LISTED = """
WHERE (:project IS NULL OR project_id = :project)
  AND (:statuses = '[]' OR status IN (SELECT value FROM json_each(:statuses)))
ORDER BY priority DESC, n LIMIT :limit
"""
CONTEXT = """
WHERE c.task = :n OR (c.kind IN (SELECT value FROM json_each(:kinds))
                      AND c.task IN (SELECT dependency FROM dependencies WHERE task = :n))
ORDER BY c.id
"""
SEARCHED = """
SELECT n, id, title, status, project_id, coalesce((SELECT body FROM bodies b WHERE b.n = t.n), '') FROM tasks t
WHERE :project IS NULL OR project_id = :project ORDER BY n DESC
"""

GREATEST = (1 << 63) - 1


class Tasks:
    """What every part of the store shares: the connection, and a task by its id."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.clock = connection.clock

    def close(self) -> None:
        self.connection.close()

    def add(self, new: NewTask) -> Task:
        with self.connection.change() as sql:
            on = [self.n_of(sql, id) for id in new.after]
            n = self.put(sql, new)
            depend_on(sql, n, on)
            if not new.draft:
                sql.execute(BEGIN, (n,))
            return self.by_n(sql, n)

    def put(self, sql: sqlite3.Connection, new: NewTask) -> int:
        if sql.execute("SELECT 1 FROM tasks WHERE id = ?", (new.id,)).fetchone():
            raise IbError(f"There is a task '{new.id}' already", hint=validation.shown(new.id))
        first = (new.id, new.title, new.project_id, new.priority, new.capability, new.test)
        most = new.max_attempts
        n = sql.execute(ADD, (*first, most, most, new.requires_approval, self.clock.now())).lastrowid
        if new.body:
            sql.execute("INSERT INTO bodies VALUES (?, ?)", (n, new.body))
        return int(n or 0)

    def n_of(self, sql: sqlite3.Connection, id: str) -> int:
        row = sql.execute("SELECT n FROM tasks WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise refusals.not_there(id)
        return int(row[0])

    def by_n(self, sql: sqlite3.Connection, n: int) -> Task:
        return rows.task(sql.execute(rows.WHOLE + "WHERE n = ?", (n,)).fetchone(), self.clock)

    def by_id(self, sql: sqlite3.Connection, id: str) -> Task:
        return self.by_n(sql, self.n_of(sql, id))

    def ids(self, prefix: str) -> list[str]:
        return [id for (id,) in self.connection.all(BEGINS_WITH, {"it": prefix})]

    def task(self, id: str) -> Task | None:
        row = self.connection.one(rows.WHOLE + "WHERE id = ?", (id,))
        return rows.task(row, self.clock) if row else None

    def tasks(self, project_id: str | None = None, statuses: Sequence[str] = (), limit: int = 0) -> list[Task]:
        given = {"project": project_id, "statuses": json.dumps(list(statuses)), "limit": limit or -1}
        return [rows.task(row, self.clock) for row in self.connection.all(rows.SHORT + LISTED, given)]

    def context(self, id: str) -> list[Note]:
        row = self.connection.one("SELECT n FROM tasks WHERE id = ?", (id,))
        if row is None:
            raise refusals.not_there(id)
        given = {"n": row[0], "kinds": json.dumps(validation.HANDED_ON)}
        return [rows.note(found) for found in self.connection.all(rows.NOTE + CONTEXT, given)]

    def search(self, query: str, project_id: str | None = None, limit: int = 50) -> list[Hit]:
        """Newest first."""
        wanted, hits = refusals.words(query), list[Hit]()
        for n, id, title, status, project, body in self.connection.all(SEARCHED, {"project": project_id}):
            found = refusals.found(wanted, [("title", title), ("body", body), *self.noted(n)])
            if found:
                hits.append(Hit(id, validation.cut(title, validation.LONGEST_TITLE_IN_EVENT), status, project, *found))
            if len(hits) == limit:
                break
        return hits

    def noted(self, n: int) -> Iterable[tuple[str, str]]:
        rows = self.connection.all("SELECT kind, content FROM notes WHERE task = ? ORDER BY id", (n,))
        return [(kind, content) for kind, content in rows]


def depend_on(sql: sqlite3.Connection, n: int, on: Sequence[int]) -> None:
    sql.executemany("INSERT INTO dependencies VALUES (?, ?) ON CONFLICT DO NOTHING", [(n, one) for one in on])


def bounded(number: int) -> int:
    """What people type can be greater than any number that SQLite knows."""
    return max(0, min(number, GREATEST))


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
