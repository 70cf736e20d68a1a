-- Emo Pillars Figure 6: what three models see in a short comment with a context.
--
-- Labels that one of the models gives with a probability of 0.1 or more; given marks those from its threshold on.
WITH answers AS (
  SELECT learner, utterance, context, given, posexplode(probabilities) AS (place, probability)
  FROM emo_pillars.predictions WHERE kind = 'comment'
), named AS (
  SELECT answers.*, polarities.label, polarities.polarity,
         max(probability) OVER (PARTITION BY polarities.label) AS most
  FROM answers JOIN analysis.emo_pillars_polarities AS polarities ON polarities.place = answers.place
)
SELECT context, utterance, label, polarity, learner, round(probability, 4) AS probability,
       array_contains(given, label) AS given
FROM named WHERE most >= 0.1 ORDER BY most DESC, label, learner
