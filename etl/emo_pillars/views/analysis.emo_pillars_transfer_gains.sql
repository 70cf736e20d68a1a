-- Emo Pillars 5: gains of models of the synthetic data over the plain encoder, trial by trial, with a paired t-test.
--
-- task: labelled set: synthetic, goemotions, isear or emocontext
-- scored: classes that are scored, and the rule that makes one a prediction
-- average: how classes are averaged: macro or micro
-- model: key under models that it starts from
-- variant: EmoContext's class others in training: kept, relabelled or typed; null: elsewhere
-- pairs: trials of the model that have one of the plain encoder with the same seed, fold and rows
-- train_rows: rows of a training, mean
-- plain_f1: F1 of the plain encoder, mean over pairs, 0 to 1
-- plain_sd: standard deviation of plain_f1 over pairs; null with fewer than two
-- f1: F1 of the model, mean over pairs, 0 to 1
-- f1_sd: standard deviation of f1 over pairs; null with fewer than two
-- gain: f1 minus plain_f1, mean over pairs
-- gain_sd: standard deviation of the gain over pairs; null with fewer than two
-- t: t of the paired t-test; null with fewer than two pairs, or equal gains
-- p_two_sided: p of that test, by Student's distribution; null: no t, or more than five pairs
WITH pairs AS (
  SELECT ours.task, ours.scored, ours.class AS average, ours.model, ours.variant, ours.train_rows, plain.f1 AS plain_f1,
         ours.f1, ours.f1 - plain.f1 AS gain
  FROM analysis.emo_pillars_transfer_results AS ours
  JOIN analysis.emo_pillars_transfer_results AS plain
    ON plain.task = ours.task AND plain.scored = ours.scored AND plain.class = ours.class
    AND plain.seed <=> ours.seed AND plain.fold <=> ours.fold AND plain.train_rows = ours.train_rows
  WHERE ours.class IN ('macro', 'micro') AND ours.tuned AND plain.tuned
    AND plain.model = 'emo_pillars_encoder' AND ours.model <> 'emo_pillars_encoder'
), gains AS (
  SELECT task, scored, average, model, variant, round(avg(train_rows)) AS train_rows, count(*) AS pairs,
         avg(plain_f1) AS plain_f1, stddev(plain_f1) AS plain_sd, avg(f1) AS f1, stddev(f1) AS f1_sd,
         avg(gain) AS gain, stddev(gain) AS gain_sd,
         try_divide(avg(gain) * sqrt(count(*)), stddev(gain)) AS t, count(*) - 1 AS freedom
  FROM pairs GROUP BY task, scored, average, model, variant
), angles AS (
  SELECT *, atan(abs(t) / sqrt(freedom)) AS angle FROM gains
)
SELECT task, scored, average, model, variant, pairs, train_rows, round(plain_f1, 4) AS plain_f1,
       round(plain_sd, 4) AS plain_sd, round(f1, 4) AS f1, round(f1_sd, 4) AS f1_sd, round(gain, 4) AS gain,
       round(gain_sd, 4) AS gain_sd, round(t, 2) AS t,
       round(1 - CASE freedom WHEN 1 THEN 2 * angle / pi() WHEN 2 THEN sin(angle)
                 WHEN 3 THEN 2 * (angle + sin(angle) * cos(angle)) / pi()
                 WHEN 4 THEN sin(angle) * (1 + cos(angle) * cos(angle) / 2) END, 4) AS p_two_sided
FROM angles ORDER BY task, scored, average, model, variant
