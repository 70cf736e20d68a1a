-- What two versions of the dialogue classifier say of the same turn, for every pair of versions that labelled it.
--
-- dialogue_id: id of the dialogue in edos.initial
-- turn: index of the turn in the dialogue, from 0
-- text: what is said in the turn
-- model: identity of the one version, the first in the alphabet
-- label: label that this version gives
-- confidence: probability of that label, 0 to 1
-- other_model: identity of the other version
-- other_label: label that the other version gives
-- other_confidence: probability of that label, 0 to 1
-- agree: both versions give the same label
WITH turns AS (
  SELECT dialogue_id, turn, text,
         sha2(concat_ws('', transform(slice(turns, 1, turn + 1), line -> coalesce(sha2(line, 256), '-'))), 256)
           AS history_hash
  FROM edos.initial LATERAL VIEW posexplode(turns) AS turn, text
)
SELECT turns.dialogue_id, turns.turn, turns.text, one.model, one.label, one.confidence,
       other.model AS other_model, other.label AS other_label, other.confidence AS other_confidence,
       one.label = other.label AS agree
FROM edos.dialogue_scores AS one
JOIN edos.dialogue_scores AS other ON other.history_hash = one.history_hash AND one.model < other.model
JOIN turns ON turns.history_hash = one.history_hash
WHERE one.label IS NOT NULL AND other.label IS NOT NULL
