"""The board on PostgreSQL: a call that changes something is one round trip, to a function of 003_operations.sql or
004_merge_queue.sql, or a procedure of 007_waiting.sql."""

from collections.abc import Sequence
from contextlib import closing
from itertools import groupby
from typing import LiteralString

from ibstatus.board import refusals
from ibstatus.board.port import Doorbell
from ibstatus.board.postgres.connection import PostgresDoorbell
from ibstatus.board.postgres.queries import ENDED, ENTRY, Asking, bounded, columns, few, fitting, json, only, parts
from ibstatus.board.rules import validation as rules
from ibstatus.model.board import Branch, Claimer, Entry, Event, Fence, Hit, NewTask, Note, NoteKind, Task, Template

TASKS = """
SELECT id, title, status, project_id, priority, attempt, claimed_by, max_attempts, capability, '', test, after,
       waits_for, requires_approval, approved_by, done_by, summary, reason, created_at, claimed_at, lease_until,
       done_at, ordinal
FROM shown
WHERE (%(project)s::text IS NULL OR project_id = %(project)s)
  AND (%(statuses)s::text[] = '{}' OR status = ANY (%(statuses)s::text[]))
ORDER BY priority DESC, ordinal LIMIT nullif(%(limit)s::integer, 0)
"""
NOTES = """
SELECT id, task_id, agent_id, kind, content, utc(created_at) FROM notes
WHERE task_id = %(id)s
   OR kind = ANY (%(handed_on)s::text[]) AND task_id IN (SELECT depends_on FROM deps WHERE task_id = %(id)s)
ORDER BY id
"""
TEXTS = """
SELECT t.id, t.title, t.status, t.project_id, x.place, x.text
FROM tasks t CROSS JOIN LATERAL (
  SELECT 0::bigint AS n, 'title' AS place, t.title AS text
  UNION ALL SELECT 1, 'body', t.body
  UNION ALL SELECT id + 1, kind, content FROM notes WHERE task_id = t.id
) x
WHERE %(project)s::text IS NULL OR t.project_id = %(project)s
ORDER BY t.ordinal DESC, x.n
"""
EVENTS = """
SELECT * FROM shown_events
WHERE seq > %(since)s AND (%(channels)s::text[] = '{}' OR channel = ANY (%(channels)s::text[]))
  AND (%(project)s::text IS NULL OR project_id = %(project)s)
ORDER BY seq LIMIT %(limit)s
"""
SETTLED = "so it waits for nothing any more"
ENTRIES = """
SELECT * FROM shown_entries
WHERE (%(repo)s::text IS NULL OR repo = %(repo)s) AND NOT (%(open)s AND (status = 'merged' OR abandoned))
ORDER BY id
"""


class PostgresBoard(Asking):
    """See port.py; used by one thread."""

    def close(self) -> None:
        self.opened.close()

    # out, rd

    def add(self, new: NewTask) -> Task:
        what = (new.id, new.title, new.body, new.project_id, new.priority, new.capability, list(new.after), new.test)
        how = (new.max_attempts, new.requires_approval, new.draft)
        return self.tasks_of("SELECT * FROM add(%s,%s,%s,%s,%s,%s,%s::text[],%s,%s,%s,%s)", what + how)[0]

    def ids(self, prefix: str) -> list[str]:
        return [str(id) for (id,) in self.opened.all("SELECT id FROM tasks WHERE id ^@ %s ORDER BY id", (prefix,))]

    def task(self, id: str) -> Task | None:
        return self.shown(id)

    def tasks(self, project_id: str | None = None, statuses: Sequence[str] = (), limit: int = 0) -> list[Task]:
        return self.tasks_of(TASKS, {"project": project_id, "statuses": list(statuses), "limit": few(limit)})

    def context(self, id: str) -> list[Note]:
        rows = self.opened.all(NOTES, {"id": id, "handed_on": list(rules.HANDED_ON)})
        if not rows and self.shown(id) is None:
            raise refusals.not_there(id)
        return [Note(*row) for row in rows]

    def search(self, query: str, project_id: str | None = None, limit: int = 50) -> list[Hit]:
        wanted, hits = refusals.words(query), list[Hit]()
        with closing(self.opened.each(TEXTS, {"project": project_id})) as rows:
            for (id, title, status, project), texts in groupby(rows, key=lambda row: row[:4]):
                found = refusals.found(wanted, [(row[4], row[5]) for row in texts])
                if found:
                    hits.append(Hit(id, rules.cut(title, rules.LONGEST_TITLE_IN_EVENT), status, project, *found))
                if len(hits) == limit:
                    break
        return hits

    # in

    def claim(self, template: Template, who: Claimer, count: int = 1) -> list[Task]:
        return self.told("CALL take_and_tell(%s,%s::text[],%s,%s,%s,%s,%s,NULL)", fitting(template, who, count))

    def claim_task(self, id: str, who: Claimer) -> Task:
        values = (id, who.agent, who.lease, rules.NO_SIGN)
        return self.one_task("SELECT * FROM claim_task(%s,%s,%s,%s)", values, "and only a ready one can be claimed")

    # eval

    def done(self, fences: Sequence[Fence], summary: str = "", branch: Branch | None = None) -> list[Task]:
        if branch is None:
            done: LiteralString = "CALL finish_and_tell(%s::text[],%s::text[],%s::integer[],%s,NULL)"
            return self.told(done, (*columns(fences), summary), fences)
        whose = (*only(fences), summary)
        return self.tasks_of(
            "SELECT * FROM done_with_branch(%s,%s,%s,%s,%s,%s,%s,%s,%s,%s)", whose + parts(branch), fences
        )

    def done_and_claim(
        self,
        fences: Sequence[Fence],
        template: Template,
        who: Claimer,
        summary: str = "",
        branch: Branch | None = None,
        count: int = 1,
    ) -> list[Task]:
        wanted = fitting(template, who, count)
        if branch is None:
            both: LiteralString = (
                "CALL finish_take_and_tell(%s::text[],%s::text[],%s::integer[],%s,%s,%s::text[],%s,%s,%s,%s,%s,NULL)"
            )
            return self.told(both, (*columns(fences), summary, *wanted), fences)
        whose = (*only(fences), summary)
        return self.tasks_of(
            "SELECT * FROM done_with_branch_and_claim(%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s::text[],%s,%s,%s,%s,%s)",
            (*whose, *parts(branch), *wanted),
            fences,
        )

    def fail(self, fence: Fence, reason: str) -> Task:
        return self.held("SELECT * FROM give_back(%s,%s,%s,%s,0)", fence, reason)

    def release(self, fence: Fence, reason: str = "") -> Task:
        return self.held("SELECT * FROM give_back(%s,%s,%s,%s,1)", fence, reason)

    def beat(self, fence: Fence, lease: float) -> Task:
        return self.held("SELECT * FROM beat(%s,%s,%s,%s)", fence, lease)

    def note(self, id: str, agent: str, kind: NoteKind, content: str) -> Note:
        return Note(*self.asked("SELECT * FROM note(%s,%s,%s,%s)", (id, agent, kind, content))[0])

    # people

    def take_back(self, id: str, reason: str) -> Task:
        return self.one_task(
            "SELECT * FROM give_back(%s,NULL,NULL,%s,1)", (id, reason), "so there is nobody to take it from"
        )

    def publish(self, id: str) -> Task:
        return self.one_task("SELECT * FROM publish(%s)", (id,), "not a draft")

    def approve(self, id: str, by: str) -> Task:
        return self.one_task("SELECT * FROM approve(%s,%s)", (id, by), "so it needs no approval")

    def reject(self, id: str, by: str, reason: str) -> Task:
        return self.one_task("SELECT * FROM reject(%s,%s,%s)", (id, by, reason), "too late to reject it")

    def depend(self, id: str, on: Sequence[str]) -> Task:
        return self.one_task("SELECT * FROM depend(%s,%s::text[])", (id, list(on)), SETTLED)

    def undepend(self, id: str, on: Sequence[str]) -> Task:
        return self.one_task("SELECT * FROM undepend(%s,%s::text[])", (id, list(on)), SETTLED)

    def retry(self, id: str) -> Task:
        return self.one_task("SELECT * FROM retry(%s)", (id,), "so there is nothing to try again")

    def sweep(self) -> list[str]:
        return [str(id) for (id,) in self.opened.all("SELECT * FROM sweep(%s)", (rules.NO_SIGN,))]

    # the stream

    def events(
        self, since: int, limit: int = 1000, channels: Sequence[str] = (), project_id: str | None = None
    ) -> list[Event]:
        values = {"since": bounded(since), "limit": few(limit), "channels": list(channels), "project": project_id}
        return [Event(*row) for row in self.kept(self.opened.all(EVENTS, values))]

    def last_seq(self) -> int:
        ((last,),) = self.kept(self.opened.all("SELECT coalesce(max(seq), 0) FROM events"))
        return int(last)

    def doorbell(self) -> Doorbell:
        return PostgresDoorbell(self.opened.dsn)

    # the merge queue

    def entries(self, repo: str | None = None, open_only: bool = False) -> list[Entry]:
        return [Entry(*row) for row in self.opened.all(ENTRIES, {"repo": repo, "open": open_only})]

    def entry(self, id: int) -> Entry | None:
        row = self.opened.one(ENTRY, (bounded(id),))
        return Entry(*row) if row else None

    def enqueue(self, task_id: str, agent: str, branch: Branch) -> Entry:
        rows = self.asked("SELECT * FROM enqueue(%s,%s,%s,%s,%s,%s,%s,%s)", (task_id, agent, *parts(branch)))
        if rows:
            return Entry(*rows[0])
        self.refuse_second(task_id)
        raise self.refused(task_id, "and only a branch of one that is done is merged")

    def merging(self, id: int) -> Entry | None:
        row = self.opened.one("SELECT * FROM merging(%s)", (bounded(id),))
        if row is None and self.entry(id) is None:
            raise refusals.no_entry(id)
        return Entry(*row) if row else None

    def intend(self, id: int, merge_sha: str, receipt: dict[str, str | int] | None) -> None:
        if self.opened.one("SELECT intend(%s,%s,%s)", (bounded(id), merge_sha, json(receipt))) == (False,):
            raise self.refused_entry(id, "and nobody is merging it")

    def merged(self, id: int, merge_sha: str) -> Entry:
        return self.one_entry(ENDED, id, ("merged", merge_sha, [], "", None), "and nobody is merging it")

    def conflicted(self, id: int, files: Sequence[str], reason: str) -> Entry:
        return self.one_entry(ENDED, id, ("conflict", None, list(files), reason, None), "and nobody is merging it")

    def merge_failed(self, id: int, reason: str, receipt: dict[str, str | int] | None = None) -> Entry:
        return self.one_entry(ENDED, id, ("failed", None, [], reason, json(receipt)), "and nobody is merging it")

    def requeue(self, id: int, sha: str | None = None, reason: str = "") -> Entry:
        row = self.opened.one("SELECT * FROM requeue(%s,%s,%s)", (bounded(id), sha, reason))
        if row is None:
            self.refuse_second(self.one_entry(ENTRY, id, (), "").task_id, but=id)
            raise self.refused_entry(id, "so there is nothing left to merge")
        return Entry(*row)

    def abandon(self, id: int, reason: str) -> Entry:
        return self.one_entry("SELECT * FROM abandon(%s,%s)", id, (reason,), "so it cannot be abandoned")
