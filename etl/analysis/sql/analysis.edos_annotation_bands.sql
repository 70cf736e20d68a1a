-- How far classes stepped down for the crowd's turns, 8,187 released ones beside ours (EDOS 3.2).
SELECT tasks.band, count(*) AS turns, count(DISTINCT tasks.label) AS classes, max(released.turns) AS released_turns
FROM edos.annotation_tasks AS tasks
LEFT JOIN VALUES ('0.9', 6899), ('0.8', 944), ('0.7', 314), ('0.6', 30) AS released(band, turns)
  ON released.band = tasks.band
WHERE tasks.quiz_label IS NULL GROUP BY tasks.band ORDER BY tasks.band DESC
