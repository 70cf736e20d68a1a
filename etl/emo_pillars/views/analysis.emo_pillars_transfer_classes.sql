-- Emo Pillars Table 10: the same by class, with the gains over the plain encoder and the GoEmotions paper.
--
-- task: labelled set: synthetic, goemotions, isear or emocontext
-- scored: classes that are scored, and the rule that makes one a prediction
-- class: class that is scored; std: standard deviation over the classes, the paper's last row
-- model: key under models that it starts from, or an encoder's URI; null: only the paper has it
-- tuned: trained on the task; false: used as it is
-- variant: EmoContext's class others in training: kept, relabelled or typed; null: elsewhere
-- trials: trainings, or folds, that the means are over; null: only the paper has it
-- precision: mean precision of the class over trials, 0 to 1
-- recall: mean recall of the class over trials, 0 to 1
-- f1: mean F1 of the class over trials, 0 to 1
-- support: test rows of the class, summed over trials; null for std
-- gain_over_plain: f1 above that of the plain encoder tuned on the task; null: it itself, or not tuned
-- gain_over_goemotions: f1 above that of the model of the GoEmotions paper; null: other tasks
-- paper_precision: precision that the paper prints of its tuned RoBERTa, beside each model on GoEmotions
-- paper_recall: recall of the same model
-- paper_f1: F1 of the same model
-- goemotions_f1: F1 of the model of the GoEmotions paper; null: other tasks
-- paper_gain: paper_f1 above goemotions_f1
-- always_f1: floor: F1 of giving every row the class; null for std
-- random_f1: floor: expected F1 of giving the class at random, at its own rate; null for std
WITH ours AS (
  SELECT task, scored, class, model, tuned, variant, count(*) AS trials, round(avg(precision), 4) AS precision,
         round(avg(recall), 4) AS recall, round(avg(f1), 4) AS f1, sum(support) AS support,
         round(avg(try_divide(2 * support, test_rows + support)), 4) AS always_f1,
         round(avg(try_divide(support, test_rows)), 4) AS random_f1
  FROM analysis.emo_pillars_transfer_results WHERE class NOT IN ('macro', 'micro')
  GROUP BY task, scored, class, model, tuned, variant
), plain AS (
  SELECT task, scored, class, f1 AS plain_f1 FROM ours WHERE model = 'emo_pillars_encoder' AND tuned
), classes AS (
SELECT coalesce(ours.task, 'goemotions') AS task, coalesce(ours.scored, '28 labels, threshold') AS scored,
       coalesce(ours.class, paper.label) AS class, ours.model, coalesce(ours.tuned, true) AS tuned, ours.variant, trials,
       ours.precision, ours.recall, ours.f1, support,
       CASE WHEN ours.tuned AND ours.model <> 'emo_pillars_encoder' THEN round(ours.f1 - plain_f1, 4) END
         AS gain_over_plain,
       round(ours.f1 - goemotions_f1, 4) AS gain_over_goemotions, paper.precision AS paper_precision,
       paper.recall AS paper_recall, paper.f1 AS paper_f1, goemotions_f1,
       round(paper.f1 - goemotions_f1, 2) AS paper_gain, always_f1, random_f1
FROM ours
LEFT JOIN plain ON plain.task = ours.task AND plain.scored = ours.scored AND plain.class = ours.class
FULL JOIN analysis.emo_pillars_paper_table_10 AS paper ON ours.task = 'goemotions' AND paper.label = ours.class
)
SELECT * FROM classes
UNION ALL
SELECT task, scored, 'std', model, tuned, variant, max(trials), round(stddev(precision), 4), round(stddev(recall), 4),
       round(stddev(f1), 4), NULL, round(stddev(gain_over_plain), 4), round(stddev(gain_over_goemotions), 4),
       round(stddev(paper_precision), 2), round(stddev(paper_recall), 2), round(stddev(paper_f1), 2),
       round(stddev(goemotions_f1), 2), round(stddev(paper_gain), 2), NULL, NULL
FROM classes GROUP BY task, scored, model, tuned, variant HAVING count(*) > 1
ORDER BY task, scored, model, tuned, variant, class = 'std', class
