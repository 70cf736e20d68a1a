-- Each stage's last finished run beside the one before it.
--
-- stage: stage that ran
-- unit: what is counted: file, dialogue, turn, ...
-- run_id: id of the last run, as in ops.stage_runs
-- run_id_before: id of the run before; null: there was none
-- rows_in: units of the stage's input in the last run, with those of earlier runs that its table still accounts for
-- rows_in_before: the same of the run before
-- rows_out: units that it wrote
-- rows_out_before: units that the run before wrote
-- rows_dropped: units that it left out
-- rows_dropped_before: units that the run before left out
-- rows_quarantined: units that it could not read
-- rows_quarantined_before: units that the run before could not read
-- seconds: time of the last run
-- seconds_before: time of the run before
-- settings_changed: whether a setting of the stage, or a file that it names, was another one; null: there was none
-- rules_changed: whether the stage's version was another one; null: there was none
WITH runs AS (
  SELECT *, row_number() OVER (PARTITION BY stage ORDER BY started DESC, run_id) AS age
  FROM ops.stage_runs WHERE event = 'done'
)
SELECT newest.stage, newest.unit, newest.run_id, past.run_id AS run_id_before,
       newest.rows_in, past.rows_in AS rows_in_before, newest.rows_out, past.rows_out AS rows_out_before,
       newest.rows_dropped, past.rows_dropped AS rows_dropped_before,
       newest.rows_quarantined, past.rows_quarantined AS rows_quarantined_before,
       newest.seconds, past.seconds AS seconds_before,
       newest.settings_hash <> past.settings_hash AS settings_changed,
       newest.stage_version <> past.stage_version AS rules_changed
FROM runs AS newest LEFT JOIN runs AS past ON past.stage = newest.stage AND past.age = 2
WHERE newest.age = 1 ORDER BY newest.started, newest.stage
