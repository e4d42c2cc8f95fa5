-- What an event says has one home, news(). An update is told straight from the rows before and after it: to gather them
-- first and to look them up again was a sixth of a claim.

CREATE FUNCTION ib_board.news(was text, had text, most integer, t ib_board.tasks) RETURNS TABLE (
  place integer, channel text, task_id text, project_id text, title text, agent_id text, summary text, reason text,
  priority integer, attempt integer, max_attempts integer
) LANGUAGE sql STABLE AS $$
  SELECT k.place, k.channel, t.id, t.project_id, ib_board.cut(t.title, 200),
         CASE k.channel WHEN 'task_claimed' THEN t.claimed_by WHEN 'task_done' THEN t.done_by
           WHEN 'task_rejected' THEN t.rejected_by WHEN 'task_retry' THEN had WHEN 'task_failed' THEN had END,
         CASE WHEN k.channel = 'task_done' THEN nullif(ib_board.cut(t.summary, 2000), '') END,
         CASE WHEN k.channel IN ('task_retry', 'task_failed', 'task_rejected')
                OR was = 'claimed' AND t.status = 'ready' THEN nullif(ib_board.cut(t.reason, 2000), '') END,
         CASE WHEN k.channel IN ('task_ready', 'task_claimed', 'task_pending_approval') THEN t.priority END,
         CASE WHEN k.channel NOT IN ('task_pending_approval', 'task_rejected') THEN t.attempt END,
         CASE WHEN k.channel NOT IN ('task_pending_approval', 'task_rejected', 'task_done') THEN t.max_attempts END
  -- Given back or taken back is not failed: then there is one more attempt.
  FROM (VALUES
    (0, CASE WHEN was = 'claimed' AND t.status IN ('ready', 'pending') AND t.max_attempts = most THEN 'task_retry' END),
    (1, CASE WHEN t.status NOT IN ('draft', 'pending') THEN 'task_' || t.status END)
  ) k (place, channel)
  WHERE k.channel IS NOT NULL
$$;

-- A notification only rings: `task|project`, of done ones `|agent`.
CREATE FUNCTION ib_board.ring(channel text, task_id text, project_id text, agent_id text) RETURNS text
LANGUAGE sql IMMUTABLE
RETURN task_id || '|' || coalesce(project_id, '')
       || CASE WHEN channel = 'task_done' THEN '|' || coalesce(agent_id, '') ELSE '' END;

-- The readiness that comes of these, after their own events.
CREATE FUNCTION ib_board.free(done text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  freed text[] := ARRAY(SELECT d.task_id FROM ib_board.deps d WHERE d.depends_on = ANY (done));
BEGIN
  IF freed <> '{}' THEN
    PERFORM ib_board.settle(freed);
  END IF;
END $$;

CREATE OR REPLACE FUNCTION ib_board.added() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  rung bigint;
  done text[];
BEGIN
  WITH told AS (
    INSERT INTO ib_board.events
      (channel, task_id, project_id, title, agent_id, summary, reason, priority, attempt, max_attempts)
    SELECT e.channel, e.task_id, e.project_id, e.title, e.agent_id, e.summary, e.reason, e.priority, e.attempt, e.max_attempts
    FROM new_rows n CROSS JOIN LATERAL ib_board.news(NULL, NULL, 0, ROW(n.*)::ib_board.tasks) e
    ORDER BY n.ordinal
    RETURNING channel, task_id, project_id, agent_id
  )
  SELECT array_agg(task_id) FILTER (WHERE channel = 'task_done'),
         count(pg_notify(channel, ib_board.ring(channel, task_id, project_id, agent_id)))
  INTO done, rung FROM told;
  PERFORM pg_notify('ib_board', '');
  IF done IS NOT NULL THEN
    PERFORM ib_board.free(done);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION ib_board.changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  rung bigint;
  done text[];
BEGIN
  WITH told AS (
    INSERT INTO ib_board.events
      (channel, task_id, project_id, title, agent_id, summary, reason, priority, attempt, max_attempts)
    SELECT e.channel, e.task_id, e.project_id, e.title, e.agent_id, e.summary, e.reason, e.priority, e.attempt, e.max_attempts
    FROM old_rows o JOIN new_rows n ON n.id = o.id AND n.status <> o.status
    CROSS JOIN LATERAL ib_board.news(o.status, o.claimed_by, o.max_attempts, ROW(n.*)::ib_board.tasks) e
    ORDER BY CASE WHEN n.status = 'claimed' THEN -n.priority ELSE 0 END, n.ordinal, e.place
    RETURNING channel, task_id, project_id, agent_id
  )
  SELECT array_agg(task_id) FILTER (WHERE channel = 'task_done'),
         count(pg_notify(channel, ib_board.ring(channel, task_id, project_id, agent_id)))
  INTO done, rung FROM told;
  IF rung > 0 OR EXISTS (SELECT FROM old_rows o JOIN new_rows n ON n.id = o.id AND n.status <> o.status) THEN
    PERFORM pg_notify('ib_board', '');
  END IF;
  IF done IS NOT NULL THEN
    PERFORM ib_board.free(done);
  END IF;
  RETURN NULL;
END $$;

DROP FUNCTION ib_board.tell(ib_board.change[]);
DROP TYPE ib_board.change;
