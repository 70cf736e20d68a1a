-- Emo Pillars Figure 6: what three models see in a short comment with a context.
--
-- context: what led to the comment
-- utterance: the comment
-- label: emotion that some model sees in it, with a probability of 0.1 or more
-- polarity: positive, negative, ambiguous or neutral, of the label
-- learner: key of the model under models
-- probability: probability that the model gives the label, 0 to 1
-- given: the model gives the label: the probability reaches its threshold
WITH answers AS (
  SELECT learner, utterance, context, given, posexplode(probabilities) AS (place, probability)
  FROM emo_pillars.predictions WHERE kind = 'comment'
), named AS (
  SELECT answers.*, polarities.label, polarities.polarity,
         max(probability) OVER (PARTITION BY polarities.label) AS most
  FROM answers JOIN analysis.emo_pillars_polarities AS polarities ON polarities.place = answers.place
)
SELECT context, utterance, label, polarity, learner, round(CAST(probability AS double), 4) AS probability,
       array_contains(given, label) AS given
FROM named WHERE most >= 0.1 ORDER BY most DESC, label, learner
