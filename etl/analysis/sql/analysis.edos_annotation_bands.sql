-- How far classes stepped down for the crowd's turns: the votes that came in beside the turns asked (EDOS 3.2).
--
-- turns are those of the task table. voted_turns are the turns with votes, by the band that the votes name, so that
-- the released file shows its own (complete: 8,593, 1,211, 397 and 44 turns; a part of it has other numbers).
WITH asked AS (
  SELECT band, count(*) AS turns, count(DISTINCT label) AS classes
  FROM edos.annotation_tasks WHERE quiz_label IS NULL GROUP BY band
), voted AS (
  SELECT band, count(DISTINCT dialogue_id, turn) AS turns FROM edos.annotations WHERE band IS NOT NULL GROUP BY band
), released AS (
  SELECT * FROM VALUES ('0.9', 8593L), ('0.8', 1211L), ('0.7', 397L), ('0.6', 44L) AS complete(band, turns)
)
SELECT coalesce(asked.band, voted.band, released.band) AS band, coalesce(asked.turns, 0L) AS turns,
       coalesce(asked.classes, 0L) AS classes, coalesce(voted.turns, 0L) AS voted_turns,
       released.turns AS released_turns
FROM asked
FULL JOIN voted ON voted.band = asked.band
FULL JOIN released ON released.band = coalesce(asked.band, voted.band)
ORDER BY band DESC
