-- The finished turns by confidence, in tenths.
--
-- from_confidence: lower end of the tenth, included
-- to_confidence: upper end of the tenth, not included but for 1
-- turns: finished turns whose label has such a confidence
-- share: share of all finished turns
WITH lines AS (
  SELECT line.label AS label, round(CAST(line.confidence AS double), 4) AS confidence
  FROM edos.dialogues LATERAL VIEW explode(turns) AS line
), bands AS (
  SELECT CAST(least(floor(confidence * 10), 9) AS int) AS band, count(*) AS turns FROM lines GROUP BY 1
), total AS (
  SELECT sum(turns) AS turns FROM bands
)
SELECT band / 10D AS from_confidence, (band + 1) / 10D AS to_confidence, bands.turns,
       round(bands.turns / total.turns, 6) AS share
FROM bands CROSS JOIN total ORDER BY band
