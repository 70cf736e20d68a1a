-- The view analysis.model_disagreement in DuckDB's SQL: the same columns, and the same rows in any order.
WITH numbered AS (
  SELECT dialogue_id, generate_subscripts(turns, 1) - 1 AS turn, unnest(turns) AS text, turns FROM edos.initial
), turns AS (
  SELECT dialogue_id, CAST(turn AS int) AS turn, text,
         sha256(array_to_string([coalesce(sha256(line), '-') for line in turns[1:turn + 1]], ''))
           AS history_hash
  FROM numbered
)
SELECT turns.dialogue_id, turns.turn, turns.text, one.model, one.label, one.confidence,
       other.model AS other_model, other.label AS other_label, other.confidence AS other_confidence,
       one.label = other.label AS agree
FROM edos.dialogue_scores AS one
JOIN edos.dialogue_scores AS other ON other.history_hash = one.history_hash AND one.model < other.model
JOIN turns ON turns.history_hash = one.history_hash
WHERE one.label IS NOT NULL AND other.label IS NOT NULL
