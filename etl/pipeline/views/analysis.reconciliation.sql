-- Each run's units: in = out + dropped + quarantined; unexplained is 0.
SELECT stage, run_id, unit, rows_in, rows_out, rows_dropped, rows_quarantined,
       rows_in - rows_out - coalesce(rows_dropped, 0) - coalesce(rows_quarantined, 0) AS unexplained
FROM ops.stage_runs WHERE event = 'done' AND rows_in IS NOT NULL ORDER BY started, stage
