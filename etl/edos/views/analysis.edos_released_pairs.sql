-- Each released pair of similar dialogues: the authors' cosine and ours.
--
-- origin: how the authors found the label: similar, or similar_self from a self-labelled one
-- dialogue_id: id of the dialogue that took the label
-- matched_id: turn that the label came from, as <dialogue_id>/<turn>
-- label: label that it took
-- released_score: cosine of the two dialogues, by the authors
-- our_score: cosine of the two dialogues, by our encoder
-- model: identity of our encoder
-- labelled: turns of the dialogue that the label came from, joined by |
-- similar: turns of the dialogue that took the label, joined by |
WITH hashed AS (
  SELECT origin, dialogue_id, label, score AS released_score, matched_id, turns, matched_turns,
         sha2(concat_ws('', transform(turns, turn -> sha2(turn, 256))), 256) AS history_hash,
         sha2(concat_ws('', transform(matched_turns, turn -> sha2(turn, 256))), 256) AS matched_hash
  FROM edos.released_dialogues WHERE matched_turns IS NOT NULL
)
SELECT hashed.origin, hashed.dialogue_id, hashed.matched_id, hashed.label, hashed.released_score,
       round(aggregate(zip_with(ours.embedding, theirs.embedding, (x, y) -> CAST(x AS double) * y), 0D,
                       (total, product) -> total + product), 4) AS our_score,
       ours.model, array_join(hashed.matched_turns, ' | ') AS labelled, array_join(hashed.turns, ' | ') AS similar
FROM hashed JOIN edos.dialogue_embeddings AS ours ON ours.history_hash = hashed.history_hash
JOIN edos.dialogue_embeddings AS theirs ON theirs.history_hash = hashed.matched_hash AND theirs.model = ours.model
ORDER BY origin, our_score DESC, dialogue_id
