-- Emo Pillars Table 8: dialogues of EmoContext whose emotion a model does not give, with the labels that it gives.
--
-- learner: key of the model under models
-- context: the first two turns of the dialogue
-- utterance: the last turn, which has the emotion
-- truth: emotion in EmoContext: happy, sad or angry
-- labels: labels that the model gives, each with its probability, the strongest first
-- strength: sum of the probabilities of these labels
--
-- Only dialogues of an emotion. The labels may be better or worse.
WITH answers AS (
  SELECT learner, text_id, context, utterance, truth, true_label, given,
         place, probability
  FROM emo_pillars.predictions LATERAL VIEW posexplode(probabilities) AS place, probability
  WHERE kind = 'dialogue' AND true_label IS NOT NULL AND size(given) > 0 AND NOT array_contains(given, true_label)
), named AS (
  SELECT answers.*, polarities.label FROM answers JOIN analysis.emo_pillars_polarities AS polarities ON polarities.place = answers.place
  WHERE array_contains(given, polarities.label)
)
SELECT learner, context, utterance, truth,
       array_join(transform(sort_array(collect_list(struct(-probability AS order, label, probability))),
                            one -> concat(one.label, ' (', format_number(one.probability, 2), ')')), ', ') AS labels,
       round(sum(probability), 4) AS strength
FROM named GROUP BY learner, text_id, context, utterance, truth ORDER BY learner, strength DESC, text_id
