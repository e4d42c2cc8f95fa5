"""Rows of the database → records of the board."""

from typing import Any

import msgspec

from ibstatus.board.sqlite.connection import Row
from ibstatus.board.sqlite.lease_clock import Clock
from ibstatus.model.board import Entry, Event, Note, Task

TASK = """
SELECT r.id, r.title, r.status, r.project_id, r.priority, r.attempt, r.claimed_by, r.max_attempts, r.capability,
       {body}, r.test, r.after, r.waits_for, r.requires_approval, r.approved_by, r.done_by, r.summary, r.reason,
       r.created_at, r.claimed_at, r.lease_end, r.done_at, r.lease_boot
FROM task_records r
"""
WHOLE = TASK.format(body="coalesce((SELECT body FROM bodies b WHERE b.n = r.n), '')")
SHORT = TASK.format(body="''")
ENTRY = "SELECT * FROM entry_records"
EVENT = """
SELECT seq, channel, ts, task_id, project_id, agent_id, queue_id, title, summary, reason, priority, attempt,
       max_attempts, branch, base, sha, conflict_files
FROM events
"""
NOTE = "SELECT c.id, t.id, c.agent_id, c.kind, c.content, c.created_at FROM notes c JOIN tasks t ON t.n = c.task"


def task(row: Row, clock: Clock) -> Task:
    fields: list[Any] = list(row[:-1])
    fields[11] = array(row[11])
    fields[12] = array(row[12])
    fields[13] = bool(row[13])
    fields[20] = clock.lease_until(row[20], row[-1])
    return Task(*fields)


def entry(row: Row) -> Entry:
    fields: list[Any] = list(row)
    fields[10] = bool(row[10])
    fields[12] = array(row[12])
    fields[14] = None if row[14] is None else msgspec.json.decode(row[14])
    fields[15] = bool(row[15])
    return Entry(*fields)


def event(row: Row) -> Event:
    fields: list[Any] = [*row[:-1], None if row[-1] is None else array(row[-1])]
    return Event(*fields)


def note(row: Row) -> Note:
    return Note(*row)


def array(text: str) -> list[str]:
    return msgspec.json.decode(text, type=list[str]) if text != "[]" else []
