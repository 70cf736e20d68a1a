-- Emo Pillars Tables 1 and 5: models on the data set's own test sets, and whether contexts help.
--
-- learner: key of the model under models
-- tested_on: test set: original, contextual original or contextual rewritten
-- passages: passages of the test set that the model answered; null: only the paper has it
-- precision: mean of the labels' precisions, 0 to 1
-- recall: mean of the labels' recalls, 0 to 1
-- f1: mean of the labels' F1, 0 to 1
-- paper_precision: macro-precision that the paper prints; null: not in its tables
-- paper_recall: macro-recall that the paper prints; null: not in its tables
-- paper_f1: macro-F1 that the paper prints; null: not in its tables
-- against: key of the context-less model that it is compared with; null: it is one itself
-- pairs: passages that both models answered
-- gain: passages' mean F1 above that of the other model
-- t_test: p of Welch's t-test, as if the passages were different ones
-- mann_whitney: p of the Mann-Whitney U test, as if the passages were different ones
-- paired_t_test: p of the t-test on the same passages
-- wilcoxon: p of Wilcoxon's signed-rank test on the same passages
-- significant: t_test and mann_whitney are below 0.01, as the paper tests
-- significant_in_pairs: paired_t_test and wilcoxon are below 0.01 (ours)
-- all_labels_f1: floor: macro-F1 of giving every label to every passage
-- majority_f1: floor: macro-F1 of giving every passage the most frequent label alone
-- random_f1: floor: expected macro-F1 of giving each label at random, at its own rate
--
-- The paper's figures are the published ceiling.
WITH floors AS (
  SELECT learner, tested_on, avg(2 * support / (passages + support)) AS all_labels_f1,
         max(2 * support / (passages + support)) / count(*) AS majority_f1, avg(support / passages) AS random_f1
  FROM emo_pillars.intra_dataset WHERE class NOT IN ('macro', 'micro') GROUP BY learner, tested_on
), ours AS (
  SELECT * FROM emo_pillars.intra_dataset WHERE class = 'macro'
)
SELECT coalesce(ours.learner, paper.learner) AS learner, coalesce(ours.tested_on, paper.tested_on) AS tested_on,
       passages, ours.precision, ours.recall, ours.f1, paper.precision AS paper_precision,
       paper.recall AS paper_recall, paper.f1 AS paper_f1, against, pairs, gain, t_test, mann_whitney, paired_t_test,
       wilcoxon, t_test < 0.01 AND mann_whitney < 0.01 AS significant,
       paired_t_test < 0.01 AND wilcoxon < 0.01 AS significant_in_pairs,
       round(all_labels_f1, 4) AS all_labels_f1, round(majority_f1, 4) AS majority_f1, round(random_f1, 4) AS random_f1
FROM ours
FULL JOIN analysis.emo_pillars_paper_intra_dataset AS paper
  ON paper.learner = ours.learner AND paper.tested_on = ours.tested_on
LEFT JOIN floors ON floors.learner = ours.learner AND floors.tested_on = ours.tested_on
ORDER BY learner, tested_on
