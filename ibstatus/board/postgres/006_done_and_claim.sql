-- A worker that has done one task takes the next in the same transaction: one round trip, one place in line, one commit.

-- Both halves stand in line first, so that each later statement sees what is true now.
CREATE FUNCTION ib_board.finish(p_ids text[], p_agents text[], p_attempts integer[], p_summary text)
RETURNS void LANGUAGE plpgsql AS $$
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
END $$;

-- The best that fit; leases that have run out are looked for where there are too few.
CREATE FUNCTION ib_board.take_or_sweep(
  p_project text, p_capabilities text[], p_priority integer, p_agent text, p_lease double precision, p_count integer,
  p_reason text
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  ids text[];
BEGIN
  PERFORM ib_board.in_line();
  ids := ib_board.take(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count);
  IF cardinality(ids) < p_count AND EXISTS (SELECT FROM ib_board.sweep(p_reason, ids)) THEN
    ids := ids || ib_board.take(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count - cardinality(ids));
  END IF;
  RETURN ids;
END $$;

-- These two are for other programs: ib calls the procedures below.
CREATE OR REPLACE FUNCTION ib_board.done(p_ids text[], p_agents text[], p_attempts integer[], p_summary text)
RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.finish(p_ids, p_agents, p_attempts, p_summary);
  RETURN QUERY SELECT * FROM ib_board.show(p_ids);
END $$;

CREATE OR REPLACE FUNCTION ib_board.claim(
  p_project text, p_capabilities text[], p_priority integer, p_agent text, p_lease double precision, p_count integer,
  p_reason text
) RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
DECLARE
  ids text[];
BEGIN
  ids := ib_board.take_or_sweep(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count, p_reason);
  RETURN QUERY SELECT * FROM ib_board.show(ids);
END $$;

-- Its branch is in the queue before the next one is looked for: what waits for the merge is not free yet.
CREATE FUNCTION ib_board.done_with_branch_and_claim(
  p_id text, p_by text, p_attempt integer, p_summary text,
  p_repo text, p_branch text, p_base text, p_sha text, p_test text, p_linear boolean,
  p_project text, p_capabilities text[], p_priority integer, p_agent text, p_lease double precision, p_count integer,
  p_reason text
) RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM ib_board.done_with_branch(
    p_id, p_by, p_attempt, p_summary, p_repo, p_branch, p_base, p_sha, p_test, p_linear);
  RETURN QUERY SELECT * FROM ib_board.claim(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count, p_reason);
END $$;

-- All writers stand in line to the end of their transaction. What is called most keeps nobody there while the disk works:
-- the transaction ends without a wait, and a second one waits before the answer is given, as the session's
-- synchronous_commit says, for all that was committed before. Whoever changes something, and whoever is told of events,
-- waits for what it builds on, too. Who only looks, or listens, may see what a crash in that millisecond takes back.
CREATE FUNCTION ib_board.flush() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_logical_emit_message(true, 'ib', '');
END $$;

CREATE FUNCTION ib_board.told(ids text[]) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT coalesce(json_agg(s ORDER BY s.priority DESC, s.ordinal), '[]') FROM ib_board.shown s WHERE s.id = ANY (ids)
$$;

-- Also what was done before waits: nobody can say whether the one who said so first has waited yet.
CREATE PROCEDURE ib_board.finish_and_tell(
  p_ids text[], p_agents text[], p_attempts integer[], p_summary text, INOUT answer json
) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM ib_board.finish(p_ids, p_agents, p_attempts, p_summary);
  answer := ib_board.told(p_ids);
  COMMIT;
  PERFORM ib_board.flush();
END $$;

-- Of nothing taken nothing is told.
CREATE PROCEDURE ib_board.take_and_tell(
  p_project text, p_capabilities text[], p_priority integer, p_agent text, p_lease double precision, p_count integer,
  p_reason text, INOUT answer json
) LANGUAGE plpgsql AS $$
DECLARE
  ids text[];
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  ids := ib_board.take_or_sweep(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count, p_reason);
  answer := ib_board.told(ids);
  COMMIT;
  IF ids <> '{}' THEN
    PERFORM ib_board.flush();
  END IF;
END $$;

CREATE PROCEDURE ib_board.finish_take_and_tell(
  p_ids text[], p_agents text[], p_attempts integer[], p_summary text,
  p_project text, p_capabilities text[], p_priority integer, p_agent text, p_lease double precision, p_count integer,
  p_reason text, INOUT answer json
) LANGUAGE plpgsql AS $$
DECLARE
  ids text[];
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM ib_board.finish(p_ids, p_agents, p_attempts, p_summary);
  ids := ib_board.take_or_sweep(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count, p_reason);
  answer := ib_board.told(ids);
  COMMIT;
  PERFORM ib_board.flush();
END $$;
