-- The board on SQLite. What is promised of a task holds whoever writes: legal moves, readiness and events are kept here.
-- Needs `PRAGMA recursive_triggers = ON` and `foreign_keys = ON` in each connection.

CREATE TABLE tasks (
    n INTEGER PRIMARY KEY AUTOINCREMENT,  -- oldest first, whatever the clock says
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'draft' CHECK (status IN (
        'draft', 'pending', 'pending_approval', 'ready', 'claimed', 'done', 'failed', 'rejected')),
    project_id TEXT,
    priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 10),
    attempt INTEGER NOT NULL DEFAULT 0,
    claimed_by TEXT,
    max_attempts INTEGER NOT NULL,
    given_attempts INTEGER NOT NULL CHECK (given_attempts > 0),  -- at `add`: what a retry gives again
    capability TEXT,
    test TEXT NOT NULL DEFAULT '',
    requires_approval INTEGER NOT NULL CHECK (requires_approval IN (0, 1)),
    approved_by TEXT,
    rejected_by TEXT,
    done_by TEXT,
    summary TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL,
    claimed_at TEXT,
    done_at TEXT,
    lease REAL,       -- how long, in seconds
    lease_end REAL,   -- when, by the clock of this boot
    lease_boot TEXT,
    CHECK ((status = 'claimed') = (claimed_by IS NOT NULL)),
    CHECK ((status = 'claimed') = (lease_end IS NOT NULL AND lease_boot IS NOT NULL)),
    CHECK ((status = 'done') = (done_by IS NOT NULL)),
    CHECK (attempt BETWEEN 0 AND max_attempts),
    CHECK (status <> 'ready' OR attempt < max_attempts),
    CHECK (status <> 'ready' OR requires_approval = 0 OR approved_by IS NOT NULL)
);
-- Those to claim and those that are claimed, side by side: a claim mostly writes one page of one index, and so does its end.
CREATE INDEX tasks_open ON tasks (status, priority DESC, n, project_id, capability)
WHERE status = 'ready' OR status = 'claimed';

-- Beside the tasks, so that a claim need not write a long text again.
CREATE TABLE bodies (n INTEGER PRIMARY KEY REFERENCES tasks, body TEXT NOT NULL);

CREATE TABLE dependencies (
    task INTEGER NOT NULL REFERENCES tasks,
    dependency INTEGER NOT NULL REFERENCES tasks,
    PRIMARY KEY (task, dependency),
    CHECK (task <> dependency)
) WITHOUT ROWID;
CREATE INDEX dependencies_dependents ON dependencies (dependency, task);

CREATE TABLE notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task INTEGER NOT NULL REFERENCES tasks,
    agent_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('observation', 'handoff', 'result', 'failure')),
    content TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX notes_of ON notes (task);

CREATE TABLE merge_queue (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task INTEGER NOT NULL REFERENCES tasks,
    agent_id TEXT NOT NULL,
    repo TEXT NOT NULL,
    branch TEXT NOT NULL,
    base TEXT NOT NULL,
    sha TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'merging', 'merged', 'conflict', 'failed')),
    test TEXT NOT NULL,
    linear INTEGER NOT NULL CHECK (linear IN (0, 1)),
    merge_sha TEXT,
    conflict_files TEXT NOT NULL DEFAULT '[]',
    reason TEXT NOT NULL DEFAULT '',
    receipt TEXT,
    abandoned INTEGER NOT NULL DEFAULT 0 CHECK (abandoned IN (0, 1)),
    enqueued_at TEXT NOT NULL,
    started_at TEXT,
    completed_at TEXT,
    CHECK (abandoned = 0 OR status = 'failed'),
    CHECK (status <> 'merged' OR merge_sha IS NOT NULL)
);
CREATE UNIQUE INDEX merge_queue_open ON merge_queue (task) WHERE status <> 'merged' AND abandoned = 0;

-- seq is the order of commits: there is one writer at a time. Never take the newest rows away: AUTOINCREMENT would remember
-- their numbers, at the price of one more page in each commit.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    channel TEXT NOT NULL,
    ts TEXT NOT NULL,
    task_id TEXT,
    project_id TEXT,
    agent_id TEXT,
    queue_id TEXT,
    title TEXT,
    summary TEXT,
    reason TEXT,
    priority INTEGER,
    attempt INTEGER,
    max_attempts INTEGER,
    branch TEXT,
    base TEXT,
    sha TEXT,
    conflict_files TEXT
);

-- What keeps its dependents waiting.
CREATE VIEW holding AS
SELECT n FROM tasks t
WHERE status <> 'done'
   OR EXISTS (SELECT 1 FROM merge_queue q WHERE q.task = t.n AND q.status <> 'merged' AND q.abandoned = 0);

-- The rule of readiness, and its only home: where a task stands that nobody has and that is not over.
CREATE VIEW due AS
SELECT n,
       CASE WHEN EXISTS (SELECT 1 FROM dependencies d JOIN holding h ON h.n = d.dependency WHERE d.task = t.n)
            THEN 'pending'
            WHEN requires_approval = 1 AND approved_by IS NULL THEN 'pending_approval'
            ELSE 'ready' END AS status
FROM tasks t;

-- `INSERT INTO settle` of a task's n: it goes where it is due.
CREATE VIEW settle AS SELECT n FROM tasks WHERE 0;
CREATE TRIGGER settling INSTEAD OF INSERT ON settle BEGIN
    UPDATE tasks SET status = (SELECT status FROM due WHERE n = NEW.n)
    WHERE n = NEW.n AND status IN ('pending', 'pending_approval', 'ready')
      AND status <> (SELECT status FROM due WHERE n = NEW.n);
END;

-- A table, because a list in a trigger is built anew each time it is asked.
CREATE TABLE moves (before TEXT NOT NULL, after TEXT NOT NULL, PRIMARY KEY (before, after)) WITHOUT ROWID;
INSERT INTO moves VALUES
    ('draft', 'pending'), ('draft', 'pending_approval'), ('draft', 'ready'), ('draft', 'rejected'),
    ('pending', 'pending_approval'), ('pending', 'ready'), ('pending', 'rejected'),
    ('pending_approval', 'pending'), ('pending_approval', 'ready'), ('pending_approval', 'rejected'),
    ('ready', 'pending'), ('ready', 'claimed'), ('ready', 'rejected'),
    ('claimed', 'pending'), ('claimed', 'ready'), ('claimed', 'done'), ('claimed', 'failed'),
    ('failed', 'pending'), ('failed', 'pending_approval'), ('failed', 'ready'), ('failed', 'rejected'),
    ('rejected', 'pending'), ('rejected', 'pending_approval'), ('rejected', 'ready');
CREATE TRIGGER legal_moves BEFORE UPDATE OF status ON tasks
WHEN OLD.status <> NEW.status AND NOT EXISTS (SELECT 1 FROM moves WHERE before = OLD.status AND after = NEW.status)
BEGIN
    SELECT RAISE(ABORT, 'a task cannot go that way');
END;

CREATE TRIGGER attempts BEFORE UPDATE OF attempt, status ON tasks
WHEN NEW.attempt <> OLD.attempt + (OLD.status = 'ready' AND NEW.status = 'claimed')
BEGIN
    SELECT RAISE(ABORT, 'attempts count claims');
END;

CREATE TRIGGER legal_merges BEFORE UPDATE OF status ON merge_queue
WHEN OLD.status = 'merged' OR (OLD.status <> NEW.status AND OLD.status || '>' || NEW.status NOT IN (
    'pending>merging', 'merging>merged', 'merging>conflict', 'merging>failed', 'merging>pending',
    'conflict>pending', 'failed>pending', 'pending>failed', 'conflict>failed'))
BEGIN
    SELECT RAISE(ABORT, 'a merge cannot go that way');
END;

-- One trigger for the news and for what follows from it: the order of two would be chance, and a completion stands
-- before the readiness that it causes.
CREATE TRIGGER told AFTER UPDATE OF status ON tasks WHEN OLD.status <> NEW.status BEGIN
    INSERT INTO events (channel, ts, task_id, project_id, title, agent_id, attempt, max_attempts, reason)
    SELECT 'task_retry', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), NEW.id, NEW.project_id,
           iif(length(NEW.title) > 200, substr(NEW.title, 1, 199) || '…', NEW.title),
           OLD.claimed_by, NEW.attempt, NEW.max_attempts,
           nullif(iif(length(NEW.reason) > 2000, substr(NEW.reason, 1, 1999) || '…', NEW.reason), '')
    -- Given back or taken back is not failed: then there is one more attempt.
    WHERE OLD.status = 'claimed' AND (NEW.status = 'ready' OR NEW.status = 'pending')
      AND NEW.max_attempts = OLD.max_attempts;

    INSERT INTO events (channel, ts, task_id, project_id, title, agent_id, priority, attempt, max_attempts,
                        summary, reason)
    SELECT 'task_' || NEW.status, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), NEW.id, NEW.project_id,
           iif(length(NEW.title) > 200, substr(NEW.title, 1, 199) || '…', NEW.title),
           CASE NEW.status WHEN 'claimed' THEN NEW.claimed_by WHEN 'done' THEN NEW.done_by
                           WHEN 'failed' THEN OLD.claimed_by WHEN 'rejected' THEN NEW.rejected_by END,
           CASE NEW.status WHEN 'ready' THEN NEW.priority WHEN 'claimed' THEN NEW.priority
                           WHEN 'pending_approval' THEN NEW.priority END,
           CASE NEW.status WHEN 'ready' THEN NEW.attempt WHEN 'claimed' THEN NEW.attempt
                           WHEN 'done' THEN NEW.attempt WHEN 'failed' THEN NEW.attempt END,
           CASE NEW.status WHEN 'ready' THEN NEW.max_attempts WHEN 'claimed' THEN NEW.max_attempts
                           WHEN 'failed' THEN NEW.max_attempts END,
           iif(NEW.status = 'done',
               nullif(iif(length(NEW.summary) > 2000, substr(NEW.summary, 1, 1999) || '…', NEW.summary), ''), NULL),
           iif(NEW.status = 'failed' OR NEW.status = 'rejected' OR (NEW.status = 'ready' AND OLD.status = 'claimed'),
               nullif(iif(length(NEW.reason) > 2000, substr(NEW.reason, 1, 1999) || '…', NEW.reason), ''), NULL)
    WHERE NEW.status <> 'pending' AND NEW.status <> 'draft';

    -- Its branch was written down first, so that nobody who depends on it was ready in between.
    INSERT INTO events (channel, ts, task_id, project_id, title, agent_id, queue_id, branch, base, sha)
    SELECT channel, ts, task_id, project_id, title, agent_id, queue_id, branch, base, sha
    FROM merge_news WHERE NEW.status = 'done' AND task = NEW.n AND channel = 'merge_ready';

    INSERT INTO settle SELECT task FROM dependencies WHERE NEW.status = 'done' AND dependency = NEW.n;
END;

-- How an event of the merge queue reads right after the change.
CREATE VIEW merge_news AS
SELECT q.id, q.task,
       CASE q.status WHEN 'pending' THEN 'merge_ready' WHEN 'merging' THEN NULL ELSE 'merge_' || q.status END AS channel,
       strftime('%Y-%m-%dT%H:%M:%SZ', 'now') AS ts,
       t.id AS task_id, t.project_id,
       iif(length(t.title) > 200, substr(t.title, 1, 199) || '…', t.title) AS title,
       q.agent_id, CAST(q.id AS TEXT) AS queue_id, q.branch, q.base,
       iif(q.status = 'merged', q.merge_sha, q.sha) AS sha,
       iif(q.status = 'conflict', q.conflict_files, NULL) AS conflict_files,
       iif(q.status IN ('conflict', 'failed'),
           nullif(iif(length(q.reason) > 2000, substr(q.reason, 1, 1999) || '…', q.reason), ''), NULL) AS reason
FROM merge_queue q JOIN tasks t ON t.n = q.task;

-- `INSERT INTO tell_merge` of an entry's id: its event, then what its dependents are due.
CREATE VIEW tell_merge AS SELECT id FROM merge_queue WHERE 0;
CREATE TRIGGER telling_merge INSTEAD OF INSERT ON tell_merge BEGIN
    INSERT INTO events (channel, ts, task_id, project_id, title, agent_id, queue_id, branch, base, sha,
                        conflict_files, reason)
    SELECT channel, ts, task_id, project_id, title, agent_id, queue_id, branch, base, sha, conflict_files, reason
    FROM merge_news WHERE id = NEW.id AND channel IS NOT NULL;

    INSERT INTO settle
    SELECT task FROM dependencies WHERE dependency = (SELECT task FROM merge_queue WHERE id = NEW.id);
END;

CREATE TRIGGER merge_queued AFTER INSERT ON merge_queue
WHEN (SELECT status FROM tasks WHERE n = NEW.task) = 'done' BEGIN
    INSERT INTO tell_merge VALUES (NEW.id);
END;

CREATE TRIGGER merge_told AFTER UPDATE OF status, sha, abandoned ON merge_queue
WHEN OLD.status <> NEW.status OR OLD.sha <> NEW.sha OR OLD.abandoned <> NEW.abandoned BEGIN
    INSERT INTO tell_merge VALUES (NEW.id);
END;

-- The records as they are given out. `after` and `waits_for` are JSON arrays, oldest first.
CREATE VIEW task_records AS
SELECT t.n, t.id, t.title, t.status, t.project_id, t.priority, t.attempt, t.claimed_by, t.max_attempts, t.capability,
       t.test, t.requires_approval, t.approved_by, t.done_by, t.summary, t.reason, t.created_at, t.claimed_at, t.done_at,
       t.lease_end, t.lease_boot,
       (SELECT json_group_array(id) FROM (
            SELECT p.id FROM dependencies d JOIN tasks p ON p.n = d.dependency
            WHERE d.task = t.n ORDER BY d.dependency)) AS after,
       (SELECT json_group_array(id) FROM (
            SELECT p.id FROM dependencies d JOIN holding h ON h.n = d.dependency JOIN tasks p ON p.n = d.dependency
            WHERE d.task = t.n ORDER BY d.dependency)) AS waits_for
FROM tasks t;

CREATE VIEW entry_records AS
SELECT q.id, t.id AS task_id, t.project_id, q.agent_id, q.repo, q.branch, q.base, q.sha, q.status, q.test, q.linear,
       q.merge_sha, q.conflict_files, q.reason, q.receipt, q.abandoned, q.enqueued_at, q.started_at, q.completed_at
FROM merge_queue q JOIN tasks t ON t.n = q.task;
