-- The board's tables, and the one home of the rule what a task waits for.
-- Names are written in full: triggers run with the search_path of whoever writes, psql included.

CREATE TABLE ib_board.tasks (
  ordinal           bigint GENERATED ALWAYS AS IDENTITY,  -- oldest first, whatever the clock says
  id                varchar(100) COLLATE "C" PRIMARY KEY,
  title             text NOT NULL,
  body              text NOT NULL DEFAULT '',
  status            text NOT NULL DEFAULT 'pending',
  project_id        varchar(100),
  priority          integer NOT NULL DEFAULT 5,
  capability        varchar(100),
  test              text NOT NULL DEFAULT '',
  attempt           integer NOT NULL DEFAULT 0,
  max_attempts      integer NOT NULL DEFAULT 3,
  given_attempts    integer NOT NULL DEFAULT 3,  -- at `add`: what a retry gives again
  requires_approval boolean NOT NULL DEFAULT false,
  approved_by       text,
  rejected_by       text,
  claimed_by        varchar(100),
  claimed_at        timestamptz,
  lease             double precision NOT NULL DEFAULT 900,  -- seconds that a note extends the lease by
  lease_until       timestamptz,
  done_by           varchar(100),
  done_at           timestamptz,
  summary           text NOT NULL DEFAULT '',
  reason            text NOT NULL DEFAULT '',
  created_at        timestamptz NOT NULL DEFAULT clock_timestamp()
  -- What of this can be true at the same time, and what can follow: ib_board.check_task().
);
-- Each index is written to with every claim: there are no more than claims and leases need.
CREATE INDEX tasks_ready ON ib_board.tasks (priority DESC, ordinal) WHERE status = 'ready';
CREATE INDEX tasks_leased ON ib_board.tasks (lease_until) WHERE status = 'claimed';

-- A task's own side is checked at commit: `add` writes the dependencies first, so that its one INSERT knows the status.
CREATE TABLE ib_board.deps (
  task_id    varchar(100) COLLATE "C" NOT NULL REFERENCES ib_board.tasks ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  depends_on varchar(100) COLLATE "C" NOT NULL REFERENCES ib_board.tasks ON DELETE CASCADE,
  PRIMARY KEY (task_id, depends_on),
  CHECK (task_id <> depends_on)
);
CREATE INDEX deps_dependents ON ib_board.deps (depends_on);

CREATE TABLE ib_board.notes (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task_id    varchar(100) COLLATE "C" NOT NULL REFERENCES ib_board.tasks ON DELETE CASCADE,
  agent_id   text NOT NULL,
  kind       text NOT NULL CHECK (kind IN ('observation', 'handoff', 'result', 'failure')),
  content    text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX notes_of_task ON ib_board.notes (task_id, id);

CREATE TABLE ib_board.merge_queue (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task_id        varchar(100) COLLATE "C" NOT NULL REFERENCES ib_board.tasks ON DELETE CASCADE,
  agent_id       text NOT NULL,
  repo           text NOT NULL,
  branch         text NOT NULL,
  base           text NOT NULL,
  sha            text NOT NULL,
  status         text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'merging', 'merged', 'conflict', 'failed')),
  test           text NOT NULL DEFAULT '',
  linear         boolean NOT NULL DEFAULT false,
  merge_sha      text,
  conflict_files text[] NOT NULL DEFAULT '{}',
  reason         text NOT NULL DEFAULT '',
  receipt        jsonb,
  abandoned      boolean NOT NULL DEFAULT false,
  enqueued_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  started_at     timestamptz,
  completed_at   timestamptz,
  CHECK (NOT abandoned OR status = 'failed'),
  CHECK (status <> 'merged' OR merge_sha IS NOT NULL)
);
CREATE INDEX merge_queue_of_task ON ib_board.merge_queue (task_id);
CREATE UNIQUE INDEX merge_queue_one_open ON ib_board.merge_queue (task_id) WHERE status <> 'merged' AND NOT abandoned;

-- The truth of what happened; a notification only rings. `seq` is given in line: its order is that of commits.
CREATE TABLE ib_board.events (
  seq            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  channel        text NOT NULL,
  at             timestamptz NOT NULL DEFAULT clock_timestamp(),
  task_id        text,
  project_id     text,
  agent_id       text,
  queue_id       bigint,
  title          text,
  summary        text,
  reason         text,
  priority       integer,
  attempt        integer,
  max_attempts   integer,
  branch         text,
  base           text,
  sha            text,
  conflict_files text[]
);

-- What holds a task back, and by which of its dependencies: not done, or its branch is still to be merged.
CREATE VIEW ib_board.waits AS
SELECT d.task_id, d.depends_on, t.ordinal
FROM ib_board.deps d JOIN ib_board.tasks t ON t.id = d.depends_on
WHERE t.status <> 'done'
   OR EXISTS (SELECT FROM ib_board.merge_queue m WHERE m.task_id = t.id AND m.status <> 'merged' AND NOT m.abandoned);

-- Where a task stands that is neither draft, claimed nor over. Every way to ready goes through here.
CREATE FUNCTION ib_board.standing(task text, requires_approval boolean, approved_by text) RETURNS text
LANGUAGE sql STABLE
RETURN CASE WHEN EXISTS (SELECT FROM ib_board.waits w WHERE w.task_id = task) THEN 'pending'
            WHEN requires_approval AND approved_by IS NULL THEN 'pending_approval'
            ELSE 'ready' END;

CREATE FUNCTION ib_board.utc(given timestamptz) RETURNS text LANGUAGE sql STABLE
RETURN to_char(given AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');

CREATE FUNCTION ib_board.cut(given text, longest integer) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN length(given) <= longest THEN given ELSE left(given, longest - 1) || '…' END;

-- The records as ib's port gives them, column by column; `ordinal` only sorts.
CREATE VIEW ib_board.shown AS
SELECT t.id, t.title, t.status, t.project_id, t.priority, t.attempt, t.claimed_by, t.max_attempts, t.capability, t.body,
       t.test,
       ARRAY(SELECT d.depends_on FROM ib_board.deps d JOIN ib_board.tasks o ON o.id = d.depends_on
             WHERE d.task_id = t.id ORDER BY o.ordinal) AS after,
       ARRAY(SELECT w.depends_on FROM ib_board.waits w WHERE w.task_id = t.id ORDER BY w.ordinal) AS waits_for,
       t.requires_approval, t.approved_by, t.done_by, t.summary, t.reason, ib_board.utc(t.created_at) AS created_at,
       ib_board.utc(t.claimed_at) AS claimed_at, ib_board.utc(t.lease_until) AS lease_until,
       ib_board.utc(t.done_at) AS done_at, t.ordinal
FROM ib_board.tasks t;

CREATE VIEW ib_board.shown_entries AS
SELECT m.id, m.task_id, t.project_id, m.agent_id, m.repo, m.branch, m.base, m.sha, m.status, m.test, m.linear,
       m.merge_sha, m.conflict_files, m.reason, m.receipt, m.abandoned, ib_board.utc(m.enqueued_at) AS enqueued_at,
       ib_board.utc(m.started_at) AS started_at, ib_board.utc(m.completed_at) AS completed_at
FROM ib_board.merge_queue m JOIN ib_board.tasks t ON t.id = m.task_id;

CREATE VIEW ib_board.shown_events AS
SELECT seq, channel, ib_board.utc(at) AS ts, task_id, project_id, agent_id, queue_id::text, title, summary, reason,
       priority, attempt, max_attempts, branch, base, sha, conflict_files
FROM ib_board.events;
