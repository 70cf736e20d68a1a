-- Each run's units: in = out + dropped + quarantined; unexplained is 0.
--
-- stage: stage that ran
-- run_id: id of the run, a hash of its inputs, settings and models
-- unit: what is counted: file, dialogue, turn, ...
-- rows_in: units of the stage's input, with those of earlier runs that its table still accounts for
-- rows_out: units that it wrote
-- rows_dropped: units that it left out, with a reason in ops.dropped
-- rows_quarantined: units that it could not read
-- unexplained: units read that are in none of the three; 0 is right
SELECT stage, run_id, unit, rows_in, rows_out, rows_dropped, rows_quarantined,
       rows_in - rows_out - coalesce(rows_dropped, 0) - coalesce(rows_quarantined, 0) AS unexplained
FROM ops.stage_runs WHERE event = 'done' AND rows_in IS NOT NULL ORDER BY started, stage
