-- What each stage left out, by unit and reason.
--
-- stage: stage that left the rows out
-- unit: what was left out: file, dialogue, turn, ...
-- reason: rule or fault for which it was left out
-- rows: rows of ops.dropped with this reason
-- units: units of the stage's account that these rows stand for
SELECT stage, unit, reason, count(*) AS rows, sum(units) AS units
FROM ops.dropped GROUP BY stage, unit, reason ORDER BY stage, unit, rows DESC, reason
