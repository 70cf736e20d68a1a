-- By threshold: released self-labelled dialogues whose nearest crowd-labelled one has their label (ours).
WITH nearest AS (
  SELECT dialogue_id, turn, max(score) AS score, min_by(label, rank) AS label
  FROM edos.similar_matches WHERE label IS NOT NULL GROUP BY dialogue_id, turn
), judged AS (
  SELECT CAST(floor(round(nearest.score / 0.05, 4)) AS int) AS band, nearest.label = released.label AS agrees
  FROM nearest JOIN edos.released_dialogues AS released
    ON released.dialogue_id = nearest.dialogue_id AND released.turn = nearest.turn
  WHERE released.origin IN ('self', 'similar_self')
), banded AS (
  SELECT band, count(*) AS dialogues, count_if(agrees) AS agreeing FROM judged GROUP BY band
)
SELECT CAST(round(band * 0.05, 2) AS double) AS threshold, sum(dialogues) OVER above AS dialogues,
       round(100.0 * sum(agreeing) OVER above / sum(dialogues) OVER above, 1) AS percent_of_one_label
FROM banded WINDOW above AS (ORDER BY band DESC)
ORDER BY threshold DESC
