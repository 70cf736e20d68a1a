-- Emo Pillars Tables 1 and 5: models on the data set's own test sets, and whether contexts help.
--
-- Significant is a gain at the 1% level by the paper's tests, the t-test and the Mann-Whitney U test; in pairs, by those of the
-- same passages (ours).
-- Floors, as expectations of macro-F1: every passage has all labels (all_labels_f1), only the most frequent one
-- (majority_f1), or each label at its own rate (random_f1). The paper's figures are the published ceiling.
WITH floors AS (
  SELECT learner, tested_on, avg(2 * support / (passages + support)) AS all_labels_f1,
         max(2 * support / (passages + support)) / count(*) AS majority_f1, avg(support / passages) AS random_f1
  FROM emo_pillars.intra_dataset WHERE class NOT IN ('macro', 'micro') GROUP BY learner, tested_on
)
SELECT ours.learner, ours.tested_on, passages, ours.precision, ours.recall, ours.f1, paper.precision AS paper_precision,
       paper.recall AS paper_recall, paper.f1 AS paper_f1, against, pairs, gain, t_test, mann_whitney, paired_t_test,
       wilcoxon, t_test < 0.01 AND mann_whitney < 0.01 AS significant,
       paired_t_test < 0.01 AND wilcoxon < 0.01 AS significant_in_pairs,
       round(all_labels_f1, 4) AS all_labels_f1, round(majority_f1, 4) AS majority_f1, round(random_f1, 4) AS random_f1
FROM emo_pillars.intra_dataset AS ours
LEFT JOIN analysis.emo_pillars_paper_intra_dataset AS paper
  ON paper.learner = ours.learner AND paper.tested_on = ours.tested_on
LEFT JOIN floors ON floors.learner = ours.learner AND floors.tested_on = ours.tested_on
WHERE class = 'macro' ORDER BY ours.learner, ours.tested_on
