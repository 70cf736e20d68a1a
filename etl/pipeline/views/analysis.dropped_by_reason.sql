-- What each stage left out, by unit and reason.
SELECT stage, unit, reason, count(*) AS rows, sum(units) AS units
FROM ops.dropped GROUP BY stage, unit, reason ORDER BY stage, unit, rows DESC, reason
