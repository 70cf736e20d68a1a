-- Kinds of labels by genre and by decade of the film, and the label that is most typical of each.
--
-- grouped_by is genre or decade; a turn counts for each genre of its film. typical_label is the label, of those with at
-- least 10 turns there, whose share is the largest multiple of its share in all turns; typical_times is that multiple.
WITH placed AS (
  SELECT 'genre' AS grouped_by, genre AS name, dialogue_id, turn FROM analysis.turn_genres
  UNION ALL
  SELECT 'decade', coalesce(CAST(CAST(floor(year / 10) * 10 AS int) AS string), 'not known'), dialogue_id, turn
  FROM edos.turns
), labelled AS (
  SELECT placed.grouped_by, placed.name, turns.label, count(*) AS turns
  FROM placed JOIN edos.turns AS turns ON turns.dialogue_id = placed.dialogue_id AND turns.turn = placed.turn
  GROUP BY placed.grouped_by, placed.name, turns.label
), whole AS (
  SELECT label, count(*) / sum(count(*)) OVER () AS share FROM edos.turns GROUP BY label
), compared AS (
  SELECT labelled.grouped_by, labelled.name, labelled.label, labelled.turns, taxonomy.kind,
         labelled.turns / sum(labelled.turns) OVER (PARTITION BY labelled.grouped_by, labelled.name) / whole.share AS times
  FROM labelled JOIN whole ON whole.label = labelled.label
  LEFT JOIN analysis.edos_taxonomy AS taxonomy ON taxonomy.label = labelled.label
), ranked AS (
  SELECT *, row_number() OVER (
      PARTITION BY grouped_by, name ORDER BY IF(turns >= 10 AND kind <> 'neutral', times, 0) DESC, label
    ) AS place
  FROM compared
)
SELECT grouped_by, name, sum(turns) AS turns,
       round(coalesce(sum(turns) FILTER (WHERE kind = 'emotion'), 0) / sum(turns), 4) AS emotions,
       round(coalesce(sum(turns) FILTER (WHERE kind = 'intent'), 0) / sum(turns), 4) AS intents,
       round(coalesce(sum(turns) FILTER (WHERE kind = 'neutral'), 0) / sum(turns), 4) AS neutral,
       max(IF(place = 1 AND turns >= 10 AND kind <> 'neutral', label, NULL)) AS typical_label,
       round(max(IF(place = 1 AND turns >= 10 AND kind <> 'neutral', times, NULL)), 2) AS typical_times
FROM ranked GROUP BY grouped_by, name ORDER BY grouped_by DESC, turns DESC, name
