-- What ib's port can do, a round trip each. All stand in line first, so that each later statement sees what is true now.
-- No row given back: it was not so, and nothing has changed. SQLSTATE IB001: a fence is stale; IB002: there is no such
-- task; IB003: a cycle, its way round in DETAIL; IB004: the id is taken.

CREATE FUNCTION ib_board.show(ids text[]) RETURNS SETOF ib_board.shown LANGUAGE sql STABLE AS $$
  SELECT * FROM ib_board.shown WHERE id = ANY (ids) ORDER BY priority DESC, ordinal
$$;

CREATE FUNCTION ib_board.must_exist(ids text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  absent text := (SELECT u FROM unnest(ids) u WHERE NOT EXISTS (SELECT FROM ib_board.tasks WHERE id = u) LIMIT 1);
BEGIN
  IF absent IS NOT NULL THEN
    RAISE EXCEPTION 'there is no task %', absent USING ERRCODE = 'IB002', DETAIL = absent;
  END IF;
END $$;

CREATE FUNCTION ib_board.add(
  p_id text, p_title text, p_body text, p_project text, p_priority integer, p_capability text, p_after text[],
  p_test text, p_max_attempts integer, p_requires_approval boolean, p_draft boolean
) RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  IF EXISTS (SELECT FROM ib_board.tasks WHERE id = p_id) THEN
    RAISE EXCEPTION 'there is a task % already', p_id USING ERRCODE = 'IB004', DETAIL = p_id;
  END IF;
  IF p_after <> '{}' THEN
    PERFORM ib_board.must_exist(p_after);
    INSERT INTO ib_board.deps (task_id, depends_on) SELECT DISTINCT p_id, u FROM unnest(p_after) u;
  END IF;
  INSERT INTO ib_board.tasks (id, title, body, project_id, priority, capability, test, max_attempts, given_attempts,
                              requires_approval, status)
  VALUES (p_id, p_title, p_body, p_project, p_priority, p_capability, p_test, p_max_attempts, p_max_attempts,
          p_requires_approval,
          CASE WHEN p_draft THEN 'draft' ELSE ib_board.standing(p_id, p_requires_approval, NULL) END);
  RETURN QUERY SELECT * FROM ib_board.show(ARRAY[p_id]);
END $$;

-- `but`: those that were claimed just now, for however short a time.
CREATE FUNCTION ib_board.sweep(p_reason text, but text[] DEFAULT '{}') RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  -- Most find nothing: they need not stand in line, and write nothing.
  IF NOT EXISTS (SELECT FROM ib_board.tasks WHERE status = 'claimed' AND lease_until < clock_timestamp()) THEN
    RETURN;
  END IF;
  PERFORM ib_board.in_line();
  RETURN QUERY
  WITH swept AS (
    UPDATE ib_board.tasks t
    SET status = CASE WHEN t.attempt < t.max_attempts THEN ib_board.standing(t.id, t.requires_approval, t.approved_by)
                      ELSE 'failed' END,
        reason = p_reason, claimed_by = NULL, lease_until = NULL
    WHERE t.status = 'claimed' AND t.lease_until < clock_timestamp() AND t.id <> ALL (but)
    RETURNING t.id, t.ordinal
  )
  SELECT id::text FROM swept ORDER BY ordinal;
END $$;

CREATE FUNCTION ib_board.take(
  p_project text, p_capabilities text[], p_priority integer, p_agent text, p_lease double precision, p_count integer
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  ids text[];
BEGIN
  WITH best AS (
    SELECT b.id FROM ib_board.tasks b
    WHERE b.status = 'ready' AND (p_project IS NULL OR b.project_id = p_project)
      AND (b.capability IS NULL OR b.capability = ANY (p_capabilities))
      AND (p_priority IS NULL OR b.priority >= p_priority)
    ORDER BY b.priority DESC, b.ordinal LIMIT p_count FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE ib_board.tasks t
    SET status = 'claimed', claimed_by = p_agent, attempt = t.attempt + 1, claimed_at = clock_timestamp(), reason = '',
        lease = p_lease, lease_until = clock_timestamp() + make_interval(secs => p_lease)
    FROM best WHERE t.id = best.id
    RETURNING t.id
  )
  SELECT coalesce(array_agg(id), '{}') INTO ids FROM taken;
  RETURN ids;
END $$;

CREATE FUNCTION ib_board.claim(
  p_project text, p_capabilities text[], p_priority integer, p_agent text, p_lease double precision, p_count integer,
  p_reason text
) RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
DECLARE
  ids text[];
BEGIN
  PERFORM ib_board.in_line();
  ids := ib_board.take(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count);
  IF cardinality(ids) < p_count AND EXISTS (SELECT FROM ib_board.sweep(p_reason, ids)) THEN
    ids := ids || ib_board.take(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count - cardinality(ids));
  END IF;
  RETURN QUERY SELECT * FROM ib_board.show(ids);
END $$;

CREATE FUNCTION ib_board.claim_task(p_id text, p_agent text, p_lease double precision, p_reason text)
RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  PERFORM ib_board.sweep(p_reason);
  UPDATE ib_board.tasks t
  SET status = 'claimed', claimed_by = p_agent, attempt = t.attempt + 1, claimed_at = clock_timestamp(), reason = '',
      lease = p_lease, lease_until = clock_timestamp() + make_interval(secs => p_lease)
  WHERE t.id = p_id AND t.status = 'ready';
  IF FOUND THEN
    RETURN QUERY SELECT * FROM ib_board.show(ARRAY[p_id]);
  END IF;
END $$;

-- Of these fences the ones that hold; when one does not, nothing is changed. Said once more, `done` is the same answer.
CREATE FUNCTION ib_board.lost(p_ids text[], p_agents text[], p_attempts integer[]) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT f.id FROM unnest(p_ids, p_agents, p_attempts) f (id, agent, attempt)
  WHERE NOT EXISTS (
    SELECT FROM ib_board.tasks t WHERE t.id = f.id AND t.attempt = coalesce(f.attempt, t.attempt)
      AND f.agent = CASE t.status WHEN 'claimed' THEN t.claimed_by WHEN 'done' THEN t.done_by END)
  LIMIT 1
$$;

CREATE FUNCTION ib_board.done(p_ids text[], p_agents text[], p_attempts integer[], p_summary text)
RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
DECLARE
  stale text;
BEGIN
  PERFORM ib_board.in_line();
  stale := ib_board.lost(p_ids, p_agents, p_attempts);
  IF stale IS NOT NULL THEN
    RAISE EXCEPTION 'task % was lost', stale USING ERRCODE = 'IB001', DETAIL = stale;
  END IF;
  IF p_summary <> '' THEN
    INSERT INTO ib_board.notes (task_id, agent_id, kind, content)
    SELECT t.id, t.claimed_by, 'result', p_summary FROM ib_board.tasks t WHERE t.id = ANY (p_ids) AND t.status = 'claimed'
    ORDER BY t.ordinal;
  END IF;
  UPDATE ib_board.tasks t
  SET status = 'done', done_by = t.claimed_by, claimed_by = NULL, lease_until = NULL, done_at = clock_timestamp(),
      summary = p_summary, reason = ''
  FROM unnest(p_ids) u WHERE t.id = u AND t.status = 'claimed';
  RETURN QUERY SELECT * FROM ib_board.show(p_ids);
END $$;

-- Both in one statement: its branch is in the queue before anybody looks whether dependents are free.
CREATE FUNCTION ib_board.done_with_branch(
  p_id text, p_agent text, p_attempt integer, p_summary text,
  p_repo text, p_branch text, p_base text, p_sha text, p_test text, p_linear boolean
) RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  IF ib_board.lost(ARRAY[p_id], ARRAY[p_agent], ARRAY[p_attempt]) IS NOT NULL THEN
    RAISE EXCEPTION 'task % was lost', p_id USING ERRCODE = 'IB001', DETAIL = p_id;
  END IF;
  IF p_summary <> '' THEN
    INSERT INTO ib_board.notes (task_id, agent_id, kind, content)
    SELECT t.id, t.claimed_by, 'result', p_summary FROM ib_board.tasks t WHERE t.id = p_id AND t.status = 'claimed';
  END IF;
  WITH finished AS (
    UPDATE ib_board.tasks t
    SET status = 'done', done_by = t.claimed_by, claimed_by = NULL, lease_until = NULL, done_at = clock_timestamp(),
        summary = p_summary, reason = ''
    WHERE t.id = p_id AND t.status = 'claimed'
    RETURNING t.id
  )
  INSERT INTO ib_board.merge_queue (task_id, agent_id, repo, branch, base, sha, test, linear)
  SELECT id, p_agent, p_repo, p_branch, p_base, p_sha, p_test, p_linear FROM finished;
  RETURN QUERY SELECT * FROM ib_board.show(ARRAY[p_id]);
END $$;

-- Back from who had it. `more`: it does not count, so there is one more attempt. No agent given: from whoever has it.
-- What counts is noted, why it failed.
CREATE FUNCTION ib_board.give_back(p_id text, p_agent text, p_attempt integer, p_reason text, p_more integer)
RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  UPDATE ib_board.tasks t
  SET status = CASE WHEN t.attempt < t.max_attempts + p_more
                    THEN ib_board.standing(t.id, t.requires_approval, t.approved_by) ELSE 'failed' END,
      max_attempts = t.max_attempts + p_more, reason = p_reason, claimed_by = NULL, lease_until = NULL
  WHERE t.id = p_id AND t.status = 'claimed' AND t.claimed_by = coalesce(p_agent, t.claimed_by)
    AND t.attempt = coalesce(p_attempt, t.attempt);
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF p_more = 0 AND p_reason <> '' THEN
    INSERT INTO ib_board.notes (task_id, agent_id, kind, content) VALUES (p_id, p_agent, 'failure', p_reason);
  END IF;
  RETURN QUERY SELECT * FROM ib_board.show(ARRAY[p_id]);
END $$;

CREATE FUNCTION ib_board.beat(p_id text, p_agent text, p_attempt integer, p_lease double precision)
RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  UPDATE ib_board.tasks t
  SET lease = p_lease, lease_until = clock_timestamp() + make_interval(secs => p_lease)
  WHERE t.id = p_id AND t.status = 'claimed' AND t.claimed_by = p_agent AND t.attempt = coalesce(p_attempt, t.attempt);
  IF FOUND THEN
    RETURN QUERY SELECT * FROM ib_board.show(ARRAY[p_id]);
  END IF;
END $$;

-- From the agent that has the task it is a sign of life, too.
CREATE FUNCTION ib_board.note(p_id text, p_agent text, p_kind text, p_content text)
RETURNS TABLE (id bigint, task_id text, agent_id text, kind text, content text, created_at text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  PERFORM ib_board.must_exist(ARRAY[p_id]);
  UPDATE ib_board.tasks t
  SET lease_until = greatest(t.lease_until, clock_timestamp() + make_interval(secs => t.lease))
  WHERE t.id = p_id AND t.status = 'claimed' AND t.claimed_by = p_agent;
  RETURN QUERY
  INSERT INTO ib_board.notes AS n (task_id, agent_id, kind, content) VALUES (p_id, p_agent, p_kind, p_content)
  RETURNING n.id, n.task_id::text, n.agent_id, n.kind, n.content, ib_board.utc(n.created_at);
END $$;

CREATE FUNCTION ib_board.publish(p_id text) RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  UPDATE ib_board.tasks t SET status = ib_board.standing(t.id, t.requires_approval, t.approved_by)
  WHERE t.id = p_id AND t.status = 'draft';
  IF FOUND THEN
    RETURN QUERY SELECT * FROM ib_board.show(ARRAY[p_id]);
  END IF;
END $$;

CREATE FUNCTION ib_board.approve(p_id text, p_by text) RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  UPDATE ib_board.tasks t
  SET approved_by = CASE WHEN t.requires_approval THEN coalesce(t.approved_by, p_by) END,
      status = CASE WHEN t.status = 'pending_approval' THEN ib_board.standing(t.id, true, p_by) ELSE t.status END
  WHERE t.id = p_id AND t.status IN ('draft', 'pending', 'pending_approval', 'ready', 'claimed');
  IF FOUND THEN
    RETURN QUERY SELECT * FROM ib_board.show(ARRAY[p_id]);
  END IF;
END $$;

CREATE FUNCTION ib_board.reject(p_id text, p_by text, p_reason text) RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  UPDATE ib_board.tasks t SET status = 'rejected', rejected_by = p_by, reason = p_reason
  WHERE t.id = p_id AND t.status NOT IN ('claimed', 'done');
  IF FOUND THEN
    RETURN QUERY SELECT * FROM ib_board.show(ARRAY[p_id]);
  END IF;
END $$;

CREATE FUNCTION ib_board.retry(p_id text) RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  UPDATE ib_board.tasks t
  SET max_attempts = t.attempt + t.given_attempts, rejected_by = NULL, reason = '',
      status = ib_board.standing(t.id, t.requires_approval, t.approved_by)
  WHERE t.id = p_id AND t.status IN ('failed', 'rejected');
  IF FOUND THEN
    RETURN QUERY SELECT * FROM ib_board.show(ARRAY[p_id]);
  END IF;
END $$;

-- The shortest way from some tasks along their dependencies to another; null when there is none.
CREATE FUNCTION ib_board.way(p_from text[], p_to text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  edge text[] := p_from;
  seen jsonb := (SELECT jsonb_object_agg(u, NULL) FROM unnest(p_from) u);  -- each with the one it was reached from
  found jsonb;
  way text[] := ARRAY[p_to];
BEGIN
  WHILE NOT seen ? p_to LOOP
    SELECT jsonb_object_agg(d.depends_on, d.task_id) INTO found
    FROM ib_board.deps d WHERE d.task_id = ANY (edge) AND NOT seen ? d.depends_on;
    IF found IS NULL THEN
      RETURN NULL;
    END IF;
    edge := ARRAY(SELECT jsonb_object_keys(found));
    seen := seen || found;
  END LOOP;
  WHILE seen ->> way[1] IS NOT NULL LOOP
    way := (seen ->> way[1]) || way;
  END LOOP;
  RETURN way;
END $$;

CREATE FUNCTION ib_board.depend(p_id text, p_on text[]) RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
DECLARE
  round text[];
BEGIN
  PERFORM ib_board.in_line();
  PERFORM ib_board.must_exist(p_id || p_on);
  IF NOT EXISTS (SELECT FROM ib_board.tasks t WHERE t.id = p_id
                 AND t.status IN ('draft', 'pending', 'pending_approval', 'ready')) THEN
    RETURN;
  END IF;
  round := ib_board.way(p_on, p_id);
  IF round IS NOT NULL THEN
    RAISE EXCEPTION 'a cycle' USING ERRCODE = 'IB003', DETAIL = array_to_string(p_id || round, '|');
  END IF;
  INSERT INTO ib_board.deps (task_id, depends_on) SELECT DISTINCT p_id, u FROM unnest(p_on) u ON CONFLICT DO NOTHING;
  RETURN QUERY SELECT * FROM ib_board.show(ARRAY[p_id]);
END $$;

CREATE FUNCTION ib_board.undepend(p_id text, p_on text[]) RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  PERFORM ib_board.must_exist(p_id || p_on);
  IF EXISTS (SELECT FROM ib_board.tasks t WHERE t.id = p_id
             AND t.status IN ('draft', 'pending', 'pending_approval', 'ready')) THEN
    DELETE FROM ib_board.deps d WHERE d.task_id = p_id AND d.depends_on = ANY (p_on);
    RETURN QUERY SELECT * FROM ib_board.show(ARRAY[p_id]);
  END IF;
END $$;
