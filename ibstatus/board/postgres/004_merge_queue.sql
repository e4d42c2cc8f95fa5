-- What ib's port does with the merge queue. No row given back: it was not so, and nothing has changed.

CREATE FUNCTION ib_board.enqueue(
  p_task text, p_agent text, p_repo text, p_branch text, p_base text, p_sha text, p_test text, p_linear boolean
) RETURNS SETOF ib_board.shown_entries LANGUAGE plpgsql AS $$
DECLARE
  made bigint;
BEGIN
  PERFORM ib_board.in_line();
  PERFORM ib_board.must_exist(ARRAY[p_task]);
  INSERT INTO ib_board.merge_queue (task_id, agent_id, repo, branch, base, sha, test, linear)
  SELECT t.id, p_agent, p_repo, p_branch, p_base, p_sha, p_test, p_linear
  FROM ib_board.tasks t WHERE t.id = p_task AND t.status = 'done'
  ON CONFLICT DO NOTHING
  RETURNING id INTO made;
  RETURN QUERY SELECT * FROM ib_board.shown_entries WHERE id = made;
END $$;

CREATE FUNCTION ib_board.merging(p_id bigint) RETURNS SETOF ib_board.shown_entries LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  UPDATE ib_board.merge_queue
  SET status = 'merging', started_at = clock_timestamp(), completed_at = NULL, merge_sha = NULL
  WHERE id = p_id AND status = 'pending';
  IF FOUND THEN
    RETURN QUERY SELECT * FROM ib_board.shown_entries WHERE id = p_id;
  END IF;
END $$;

CREATE FUNCTION ib_board.intend(p_id bigint, p_merge_sha text, p_receipt jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  UPDATE ib_board.merge_queue SET merge_sha = p_merge_sha, receipt = p_receipt WHERE id = p_id AND status = 'merging';
  RETURN FOUND;
END $$;

CREATE FUNCTION ib_board.merge_ended(
  p_id bigint, p_status text, p_merge_sha text, p_files text[], p_reason text, p_receipt jsonb
) RETURNS SETOF ib_board.shown_entries LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  UPDATE ib_board.merge_queue
  SET status = p_status, merge_sha = p_merge_sha, conflict_files = p_files, reason = p_reason,
      receipt = coalesce(p_receipt, receipt), completed_at = clock_timestamp()
  WHERE id = p_id AND status = 'merging';
  IF FOUND THEN
    RETURN QUERY SELECT * FROM ib_board.shown_entries WHERE id = p_id;
  END IF;
END $$;

CREATE FUNCTION ib_board.requeue(p_id bigint, p_sha text, p_reason text)
RETURNS SETOF ib_board.shown_entries LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  UPDATE ib_board.merge_queue m
  SET status = 'pending', sha = coalesce(p_sha, m.sha), reason = p_reason, abandoned = false, merge_sha = NULL,
      conflict_files = '{}', started_at = NULL, completed_at = NULL
  WHERE m.id = p_id AND m.status <> 'merged'
    AND NOT EXISTS (SELECT FROM ib_board.merge_queue o WHERE o.task_id = m.task_id AND o.id <> m.id
                    AND o.status <> 'merged' AND NOT o.abandoned);
  IF FOUND THEN
    RETURN QUERY SELECT * FROM ib_board.shown_entries WHERE id = p_id;
  END IF;
END $$;

CREATE FUNCTION ib_board.abandon(p_id bigint, p_reason text)
RETURNS SETOF ib_board.shown_entries LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ib_board.in_line();
  UPDATE ib_board.merge_queue
  SET status = 'failed', abandoned = true, reason = p_reason, completed_at = clock_timestamp()
  WHERE id = p_id AND status IN ('pending', 'conflict', 'failed') AND NOT abandoned;
  RETURN QUERY SELECT * FROM ib_board.shown_entries WHERE id = p_id AND abandoned;
END $$;
