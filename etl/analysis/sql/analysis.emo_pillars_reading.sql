-- How many of each step's answers could be read (not in the paper).
WITH runs AS (
  SELECT stage, unit, rows_in, rows_out, rows_dropped,
         row_number() OVER (PARTITION BY stage ORDER BY started DESC) AS age
  FROM ops.stage_runs WHERE event = 'done' AND stage LIKE 'emo\_pillars\_%' AND stage NOT LIKE '%\_ask\_%'
), lines AS (
  SELECT stage, count(*) AS lines_left_out FROM ops.dropped WHERE unit = 'line' GROUP BY stage
)
SELECT runs.stage, unit, rows_in, rows_out, rows_dropped, round(try_divide(rows_out, rows_in), 4) AS share_read,
       coalesce(lines_left_out, 0) AS lines_left_out
FROM runs LEFT JOIN lines ON lines.stage = runs.stage WHERE age = 1 ORDER BY runs.stage
