-- Emo Pillars Tables 1, 2, 3, 6, 7: encoders and models on labelled sets, means over trials, the paper's beside ours.
--
-- task: labelled set: synthetic, goemotions, isear or emocontext
-- scored: classes that are scored, and the rule that makes one a prediction
-- average: how classes are averaged: macro or micro
-- model: key under models that it starts from, or an encoder's URI; null: only the paper has it
-- tuned: trained on the task; false: used as it is
-- variant: EmoContext's class others in training: kept, relabelled or typed; null: elsewhere
-- trials: trainings, or folds, that the means are over; null: only the paper has it
-- precision: mean precision over trials, 0 to 1
-- recall: mean recall over trials, 0 to 1
-- f1: mean F1 over trials, 0 to 1
-- f1_sd: standard deviation of f1 over trials; null with fewer than two
-- gain_over_plain: f1 above that of the plain encoder tuned on the task; null: it itself, or not tuned
-- paper_model: name in the paper; null: it has no such row
-- paper_precision: precision that the paper prints; null: none
-- paper_recall: recall that the paper prints; null: none
-- paper_f1: F1 that the paper prints; null: none
-- paper_f1_sd: standard deviation of F1 that the paper prints; null: none
-- starts_from: identity of the model that the training starts from
-- majority_f1: floor: F1 of giving every row the most frequent class
-- random_f1: floor: expected F1 of giving each class at random, at its own rate
--
-- Floors are expectations on the same rows. The paper's best row of a set is the published ceiling.
WITH ours AS (
  SELECT task, scored, class AS average, model, tuned, variant, count(*) AS trials,
         round(avg(precision), 4) AS precision, round(avg(recall), 4) AS recall, round(avg(f1), 4) AS f1,
         round(stddev(f1), 4) AS f1_sd, max(starts_from) AS starts_from
  FROM analysis.emo_pillars_transfer_results WHERE class IN ('macro', 'micro')
  GROUP BY task, scored, class, model, tuned, variant
), plain AS (
  SELECT task, scored, average, f1 AS plain_f1 FROM ours WHERE model = 'emo_pillars_encoder' AND tuned
), shares AS (
  SELECT task, scored, trial, max(2 * support / (test_rows + support)) / count(*) AS macro_majority,
         avg(support / test_rows) AS macro_random, 2 * max(support) / max(test_rows + 0D) AS twice,
         sum(support) / max(test_rows) AS labels, sum(support * support) / max(test_rows + 0D) AS squares,
         sum(support) AS supports
  FROM analysis.emo_pillars_transfer_results WHERE class NOT IN ('macro', 'micro') AND test_rows > 0
  GROUP BY task, scored, trial
), floors AS (
  SELECT task, scored, 'macro' AS average, round(avg(macro_majority), 4) AS majority_f1,
         round(avg(macro_random), 4) AS random_f1 FROM shares GROUP BY task, scored
  UNION ALL
  SELECT task, scored, 'micro', round(avg(twice / (1 + labels)), 4), round(avg(try_divide(squares, supports)), 4)
  FROM shares GROUP BY task, scored
)
SELECT coalesce(ours.task, paper.task) AS task, coalesce(ours.scored, paper.scored) AS scored,
       coalesce(ours.average, paper.average) AS average, ours.model, coalesce(ours.tuned, paper.tuned) AS tuned,
       ours.variant, trials, ours.precision, ours.recall, ours.f1, f1_sd,
       CASE WHEN ours.tuned AND ours.model <> 'emo_pillars_encoder' THEN round(ours.f1 - plain_f1, 4) END
         AS gain_over_plain,
       paper_model, paper.precision AS paper_precision, paper.recall AS paper_recall, paper.f1 AS paper_f1,
       paper.f1_deviation AS paper_f1_sd, starts_from, majority_f1, random_f1
FROM ours
LEFT JOIN floors ON floors.task = ours.task AND floors.scored = ours.scored AND floors.average = ours.average
LEFT JOIN plain ON plain.task = ours.task AND plain.scored = ours.scored AND plain.average = ours.average
FULL JOIN analysis.emo_pillars_paper_transfer AS paper
  ON paper.task = ours.task AND paper.scored = ours.scored AND paper.average = ours.average
  AND paper.model = ours.model AND paper.tuned = ours.tuned AND paper.variant <=> ours.variant
ORDER BY task, scored, average, tuned, ours.model NULLS LAST, ours.variant, paper_model
