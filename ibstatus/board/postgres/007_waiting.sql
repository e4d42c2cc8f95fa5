-- What waits in a second transaction (006) may be cut off there, when the change is made already.

-- With its owner's rights, and tried here: nobody shall find out that it is not allowed when the change is made already.
CREATE OR REPLACE FUNCTION ib_board.flush() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_logical_emit_message(true, 'ib', '');
END $$;

SELECT ib_board.flush();

-- Whoever may not wait in the second transaction waits in the first. Returns which it is.
CREATE FUNCTION ib_board.waits_later() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF NOT has_function_privilege('ib_board.flush()', 'EXECUTE') THEN
    RETURN false;
  END IF;
  PERFORM set_config('synchronous_commit', 'off', true);
  RETURN true;
END $$;

-- Also what was done before waits: nobody can say whether the one who said so first has waited yet.
CREATE OR REPLACE PROCEDURE ib_board.finish_and_tell(
  p_ids text[], p_agents text[], p_attempts integer[], p_summary text, INOUT answer json
) LANGUAGE plpgsql AS $$
DECLARE
  later boolean := ib_board.waits_later();
BEGIN
  PERFORM ib_board.finish(p_ids, p_agents, p_attempts, p_summary);
  answer := ib_board.told(p_ids);
  COMMIT;
  IF later THEN
    PERFORM ib_board.flush();
  END IF;
END $$;

-- Of nothing taken nothing is told.
CREATE OR REPLACE PROCEDURE ib_board.take_and_tell(
  p_project text, p_capabilities text[], p_priority integer, p_agent text, p_lease double precision, p_count integer,
  p_reason text, INOUT answer json
) LANGUAGE plpgsql AS $$
DECLARE
  ids text[];
  later boolean := ib_board.waits_later();
BEGIN
  ids := ib_board.take_or_sweep(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count, p_reason);
  answer := ib_board.told(ids);
  COMMIT;
  IF later AND ids <> '{}' THEN
    PERFORM ib_board.flush();
  END IF;
END $$;

CREATE OR REPLACE PROCEDURE ib_board.finish_take_and_tell(
  p_ids text[], p_agents text[], p_attempts integer[], p_summary text,
  p_project text, p_capabilities text[], p_priority integer, p_agent text, p_lease double precision, p_count integer,
  p_reason text, INOUT answer json
) LANGUAGE plpgsql AS $$
DECLARE
  ids text[];
  later boolean := ib_board.waits_later();
BEGIN
  PERFORM ib_board.finish(p_ids, p_agents, p_attempts, p_summary);
  ids := ib_board.take_or_sweep(p_project, p_capabilities, p_priority, p_agent, p_lease, p_count, p_reason);
  answer := ib_board.told(ids);
  COMMIT;
  IF later THEN
    PERFORM ib_board.flush();
  END IF;
END $$;
