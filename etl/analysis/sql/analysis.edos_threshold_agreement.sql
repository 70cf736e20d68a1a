-- By threshold: released self-labelled dialogues whose nearest crowd-labelled one has their label (ours).
--
-- percent_by_chance pairs them at random: the sum over labels of both shares' product, at any threshold.
WITH nearest AS (
  SELECT dialogue_id, turn, max(score) AS score, min_by(label, rank) AS label
  FROM edos.similar_matches WHERE label IS NOT NULL GROUP BY dialogue_id, turn
), judged AS (
  SELECT CAST(floor(round(nearest.score / 0.05, 4)) AS int) AS band, nearest.label = released.label AS agrees,
         nearest.label AS near_label, released.label AS own_label
  FROM nearest JOIN edos.released_dialogues AS released
    ON released.dialogue_id = nearest.dialogue_id AND released.turn = nearest.turn
  WHERE released.origin IN ('self', 'similar_self')
), chance AS (
  SELECT round(100.0 * sum(near.n * own.n) / max(total.n * total.n), 1) AS percent_by_chance
  FROM (SELECT near_label AS label, count(*) AS n FROM judged GROUP BY near_label) AS near
  JOIN (SELECT own_label AS label, count(*) AS n FROM judged GROUP BY own_label) AS own ON own.label = near.label
  CROSS JOIN (SELECT count(*) AS n FROM judged) AS total
), banded AS (
  SELECT band, count(*) AS dialogues, count_if(agrees) AS agreeing FROM judged GROUP BY band
)
SELECT CAST(round(band * 0.05, 2) AS double) AS threshold, sum(dialogues) OVER above AS dialogues,
       round(100.0 * sum(agreeing) OVER above / sum(dialogues) OVER above, 1) AS percent_of_one_label,
       coalesce(percent_by_chance, 0) AS percent_by_chance
FROM banded CROSS JOIN chance WINDOW above AS (ORDER BY band DESC)
ORDER BY threshold DESC
