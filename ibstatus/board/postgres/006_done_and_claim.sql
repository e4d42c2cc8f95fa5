-- A worker that has done one task takes the next in the same transaction: one round trip, one place in line, one commit.
-- done() and claim() of 003_operations.sql, for other programs, are made of the same two halves from here on.

CREATE FUNCTION ib_board.finish(p_ids text[], p_agents text[], p_attempts integer[], p_summary text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  stale text := ib_board.lost(p_ids, p_agents, p_attempts);
BEGIN
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
  ids text[] := ib_board.take(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count);
BEGIN
  IF cardinality(ids) < p_count AND EXISTS (SELECT FROM ib_board.sweep(p_reason, ids)) THEN
    ids := ids || ib_board.take(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count - cardinality(ids));
  END IF;
  RETURN ids;
END $$;

CREATE OR REPLACE FUNCTION ib_board.done(p_ids text[], p_agents text[], p_attempts integer[], p_summary text)
RETURNS SETOF ib_board.shown LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
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
  PERFORM ib_board.in_line();
  ids := ib_board.take_or_sweep(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count, p_reason);
  RETURN QUERY SELECT * FROM ib_board.show(ids);
END $$;

-- What ib calls. All writers stand in line to the end of their transaction, so the transaction ends without a wait for the
-- disk, and a second one waits before the answer is given: as the session's synchronous_commit says, for all that was
-- committed before. Whoever changes something, and whoever is told of events, waits for what it builds on, too. Who only
-- looks, or listens, may see what a crash in that millisecond takes back.

CREATE FUNCTION ib_board.told(ids text[]) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT coalesce(json_agg(s ORDER BY s.priority DESC, s.ordinal), '[]') FROM ib_board.shown s WHERE s.id = ANY (ids)
$$;

CREATE FUNCTION ib_board.flush() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_logical_emit_message(true, 'ib', '');
END $$;

CREATE PROCEDURE ib_board.finish_and_tell(
  p_ids text[], p_agents text[], p_attempts integer[], p_summary text, INOUT answer json
) LANGUAGE plpgsql AS $$
DECLARE
  wrote boolean;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM ib_board.in_line();
  PERFORM ib_board.finish(p_ids, p_agents, p_attempts, p_summary);
  answer := ib_board.told(p_ids);
  wrote := pg_current_xact_id_if_assigned() IS NOT NULL;
  COMMIT;
  IF wrote THEN
    PERFORM ib_board.flush();
  END IF;
END $$;

CREATE PROCEDURE ib_board.take_and_tell(
  p_project text, p_capabilities text[], p_priority integer, p_agent text, p_lease double precision, p_count integer,
  p_reason text, INOUT answer json
) LANGUAGE plpgsql AS $$
DECLARE
  ids text[];
  wrote boolean;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM ib_board.in_line();
  ids := ib_board.take_or_sweep(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count, p_reason);
  answer := ib_board.told(ids);
  wrote := pg_current_xact_id_if_assigned() IS NOT NULL;
  COMMIT;
  IF wrote THEN
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
  wrote boolean;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM ib_board.in_line();
  PERFORM ib_board.finish(p_ids, p_agents, p_attempts, p_summary);
  ids := ib_board.take_or_sweep(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count, p_reason);
  answer := ib_board.told(ids);
  wrote := pg_current_xact_id_if_assigned() IS NOT NULL;
  COMMIT;
  IF wrote THEN
    PERFORM ib_board.flush();
  END IF;
END $$;
