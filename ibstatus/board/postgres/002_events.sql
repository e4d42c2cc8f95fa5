-- Whoever writes, ib or psql: all writers stand in one line, only legal moves are made, each is told, and what it sets
-- free becomes ready.

-- Taken at the start of a writing statement, before it locks a row, and held to the end of the transaction: no deadlock,
-- and events are numbered in the order of commits. The key spells "ib_board".
CREATE FUNCTION ib_board.in_line() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(x'69625f626f617264'::bigint);
END $$;

CREATE FUNCTION ib_board.stand_in_line() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(x'69625f626f617264'::bigint);
  RETURN NULL;
END $$;

CREATE TRIGGER in_line BEFORE INSERT OR UPDATE OR DELETE ON ib_board.tasks
FOR EACH STATEMENT EXECUTE FUNCTION ib_board.stand_in_line();
CREATE TRIGGER in_line BEFORE INSERT OR UPDATE OR DELETE ON ib_board.deps
FOR EACH STATEMENT EXECUTE FUNCTION ib_board.stand_in_line();
CREATE TRIGGER in_line BEFORE INSERT OR UPDATE OR DELETE ON ib_board.merge_queue
FOR EACH STATEMENT EXECUTE FUNCTION ib_board.stand_in_line();

-- What a task can be, and become. Not as CHECKs and WHENs: PostgreSQL reads those anew for each statement, and that was
-- a third of a claim.
CREATE FUNCTION ib_board.check_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.status NOT IN ('draft', 'pending', 'pending_approval', 'ready', 'claimed', 'done', 'failed', 'rejected')
    OR (NEW.status = 'claimed') <> (NEW.claimed_by IS NOT NULL) OR (NEW.status = 'done') <> (NEW.done_by IS NOT NULL)
    OR NEW.attempt NOT BETWEEN 0 AND NEW.max_attempts OR NEW.given_attempts < 1 OR NEW.priority NOT BETWEEN 0 AND 10
    OR NEW.status = 'ready' AND (NEW.attempt = NEW.max_attempts OR NEW.requires_approval AND NEW.approved_by IS NULL)
  THEN
    RAISE EXCEPTION 'a task cannot be so: %', NEW.status USING ERRCODE = 'check_violation';
  END IF;
  IF TG_OP = 'INSERT' THEN
    RETURN NEW;
  END IF;
  IF NEW.attempt <> OLD.attempt + (OLD.status = 'ready' AND NEW.status = 'claimed')::integer THEN
    RAISE EXCEPTION 'attempts count claims' USING ERRCODE = 'check_violation';
  END IF;
  IF NEW.status <> OLD.status AND OLD.status || '>' || NEW.status NOT IN (
    'draft>pending', 'draft>pending_approval', 'draft>ready', 'draft>rejected',
    'pending>pending_approval', 'pending>ready', 'pending>rejected',
    'pending_approval>pending', 'pending_approval>ready', 'pending_approval>rejected',
    'ready>pending', 'ready>claimed', 'ready>rejected',
    'claimed>pending', 'claimed>ready', 'claimed>done', 'claimed>failed',
    'failed>pending', 'failed>pending_approval', 'failed>ready', 'failed>rejected',
    'rejected>pending', 'rejected>pending_approval', 'rejected>ready')
  THEN
    RAISE EXCEPTION 'a task cannot go from % to %', OLD.status, NEW.status USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER checked BEFORE INSERT OR UPDATE ON ib_board.tasks
FOR EACH ROW EXECUTE FUNCTION ib_board.check_task();

CREATE FUNCTION ib_board.refuse_merge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a merge cannot go from % to %', OLD.status, NEW.status USING ERRCODE = 'check_violation';
END $$;

CREATE TRIGGER legal_moves BEFORE UPDATE OF status ON ib_board.merge_queue FOR EACH ROW
WHEN (OLD.status <> NEW.status AND OLD.status || '>' || NEW.status <> ALL (ARRAY[
  'pending>merging', 'merging>merged', 'merging>conflict', 'merging>failed', 'merging>pending',
  'conflict>pending', 'failed>pending', 'pending>failed', 'conflict>failed']))
EXECUTE FUNCTION ib_board.refuse_merge();

-- These go where they are due.
CREATE FUNCTION ib_board.settle(ids text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE ib_board.tasks t
  SET status = ib_board.standing(t.id, t.requires_approval, t.approved_by)
  WHERE t.id = ANY (ids) AND t.status IN ('pending', 'pending_approval', 'ready')
    AND t.status <> ib_board.standing(t.id, t.requires_approval, t.approved_by);
END $$;

-- A task whose status changed: what it was, who had it, how many attempts it had.
CREATE TYPE ib_board.change AS (id text, was text, had text, most integer);

-- The events first, then the readiness they cause. A notification only rings: `task|project`, of done ones `|agent`.
CREATE FUNCTION ib_board.tell(changes ib_board.change[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  rung bigint;
  done text[];
  freed text[];
BEGIN
  WITH told AS (
    INSERT INTO ib_board.events
      (channel, task_id, project_id, title, agent_id, summary, reason, priority, attempt, max_attempts)
    SELECT k.channel, t.id, t.project_id, ib_board.cut(t.title, 200),
           CASE k.channel WHEN 'task_claimed' THEN t.claimed_by WHEN 'task_done' THEN t.done_by
             WHEN 'task_rejected' THEN t.rejected_by WHEN 'task_retry' THEN c.had WHEN 'task_failed' THEN c.had END,
           CASE WHEN k.channel = 'task_done' THEN nullif(ib_board.cut(t.summary, 2000), '') END,
           CASE WHEN k.channel IN ('task_retry', 'task_failed', 'task_rejected')
                  OR c.was = 'claimed' AND t.status = 'ready' THEN nullif(ib_board.cut(t.reason, 2000), '') END,
           CASE WHEN k.channel IN ('task_ready', 'task_claimed', 'task_pending_approval') THEN t.priority END,
           CASE WHEN k.channel NOT IN ('task_pending_approval', 'task_rejected') THEN t.attempt END,
           CASE WHEN k.channel NOT IN ('task_pending_approval', 'task_rejected', 'task_done') THEN t.max_attempts END
    FROM unnest(changes) c
    JOIN ib_board.tasks t ON t.id = c.id
    -- Given back or taken back is not failed: then there is one more attempt.
    CROSS JOIN LATERAL (VALUES
      (0, CASE WHEN c.was = 'claimed' AND t.status IN ('ready', 'pending') AND t.max_attempts = c.most
               THEN 'task_retry' END),
      (1, CASE WHEN t.status NOT IN ('draft', 'pending') THEN 'task_' || t.status END)
    ) k (place, channel)
    WHERE k.channel IS NOT NULL
    ORDER BY CASE WHEN t.status = 'claimed' THEN -t.priority ELSE 0 END, t.ordinal, k.place
    RETURNING channel, task_id, project_id, agent_id
  )
  SELECT array_agg(task_id) FILTER (WHERE channel = 'task_done'),
         count(pg_notify(channel, task_id || '|' || coalesce(project_id, '')
           || CASE WHEN channel = 'task_done' THEN '|' || coalesce(agent_id, '') ELSE '' END))
  INTO done, rung FROM told;
  PERFORM pg_notify('ib_board', '');
  IF done IS NOT NULL THEN
    freed := ARRAY(SELECT d.task_id FROM ib_board.deps d WHERE d.depends_on = ANY (done));
    IF freed <> '{}' THEN
      PERFORM ib_board.settle(freed);
    END IF;
  END IF;
END $$;

CREATE FUNCTION ib_board.added() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changes ib_board.change[] := ARRAY(SELECT (id, NULL, NULL, 0)::ib_board.change FROM new_rows);
BEGIN
  PERFORM ib_board.tell(changes);
  RETURN NULL;
END $$;

CREATE FUNCTION ib_board.changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changes ib_board.change[] := ARRAY(
    SELECT (o.id, o.status, o.claimed_by, o.max_attempts)::ib_board.change
    FROM old_rows o JOIN new_rows n ON n.id = o.id WHERE n.status <> o.status);
BEGIN
  IF changes <> '{}' THEN
    PERFORM ib_board.tell(changes);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER told_added AFTER INSERT ON ib_board.tasks REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION ib_board.added();
CREATE TRIGGER told_changed AFTER UPDATE ON ib_board.tasks REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION ib_board.changed();

-- An entry of the merge queue, right after its change. Nobody is told of `merging`.
CREATE FUNCTION ib_board.tell_merges(ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  rung bigint;
  dependents text[] := ARRAY(
    SELECT d.task_id FROM ib_board.merge_queue m JOIN ib_board.deps d ON d.depends_on = m.task_id WHERE m.id = ANY (ids));
BEGIN
  WITH told AS (
    INSERT INTO ib_board.events
      (channel, task_id, project_id, title, agent_id, queue_id, branch, base, sha, conflict_files, reason)
    SELECT 'merge_' || CASE m.status WHEN 'pending' THEN 'ready' ELSE m.status END,
           t.id, t.project_id, ib_board.cut(t.title, 200), m.agent_id, m.id, m.branch, m.base,
           CASE WHEN m.status = 'merged' THEN m.merge_sha ELSE m.sha END,
           CASE WHEN m.status = 'conflict' THEN m.conflict_files END,
           CASE WHEN m.status IN ('conflict', 'failed') THEN nullif(ib_board.cut(m.reason, 2000), '') END
    FROM ib_board.merge_queue m JOIN ib_board.tasks t ON t.id = m.task_id
    WHERE m.id = ANY (ids) AND m.status <> 'merging'
    ORDER BY m.id
    RETURNING channel, queue_id, task_id
  )
  SELECT count(pg_notify(channel, queue_id || '|' || task_id)) INTO rung FROM told;
  PERFORM pg_notify('ib_board', '');
  IF dependents <> '{}' THEN
    PERFORM ib_board.settle(dependents);
  END IF;
END $$;

CREATE FUNCTION ib_board.merge_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.tell_merges(ARRAY(SELECT id FROM new_rows));
  RETURN NULL;
END $$;

CREATE FUNCTION ib_board.merge_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ids bigint[] := ARRAY(
    SELECT n.id FROM old_rows o JOIN new_rows n ON n.id = o.id
    WHERE (n.status, n.sha, n.abandoned) IS DISTINCT FROM (o.status, o.sha, o.abandoned));
BEGIN
  IF ids <> '{}' THEN
    PERFORM ib_board.tell_merges(ids);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER told_added AFTER INSERT ON ib_board.merge_queue REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION ib_board.merge_added();
CREATE TRIGGER told_changed AFTER UPDATE ON ib_board.merge_queue REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION ib_board.merge_changed();

-- Who waits for more, or for less, than before.
CREATE FUNCTION ib_board.deps_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.settle(ARRAY(SELECT DISTINCT task_id FROM changed_rows));
  RETURN NULL;
END $$;

CREATE TRIGGER settled_added AFTER INSERT ON ib_board.deps REFERENCING NEW TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION ib_board.deps_changed();
CREATE TRIGGER settled_removed AFTER DELETE ON ib_board.deps REFERENCING OLD TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION ib_board.deps_changed();
