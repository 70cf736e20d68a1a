-- What the dialogue classifier answers on each of the crowd's test turns, beside the label that people gave.
--
-- dialogue_id: id of the crowd's dialogue
-- turn: index of the labelled turn, from 0
-- text: what is said in the turn
-- crowd_label: label that most workers gave
-- label: label that the dialogue classifier gives
-- confidence: probability of the classifier's label, 0 to 1
-- correct: the classifier's label is the crowd's
-- label_accepted: confidence reaches the threshold of the label; false also where none is accepted
--
-- By test turns nothing is chosen.
SELECT given.dialogue_id, given.turn, element_at(given.turns, -1) AS text,
       given.label AS crowd_label, scores.label, scores.confidence, scores.label = given.label AS correct,
       coalesce(scores.confidence >= least.threshold, false) AS label_accepted
FROM edos.training_dialogues AS given JOIN edos.held_out_scores AS scores
  ON scores.history_hash = sha2(concat_ws('', transform(given.turns, turn -> coalesce(sha2(turn, 256), '-'))), 256)
LEFT JOIN edos.label_thresholds AS least ON least.label = scores.label
WHERE given.split = 'test' AND scores.error IS NULL
  AND scores.model IN (SELECT model FROM edos.label_thresholds)
