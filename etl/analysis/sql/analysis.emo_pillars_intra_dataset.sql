-- Emo Pillars Tables 1 and 5: models on the data set's own test sets, and whether contexts help.
SELECT ours.learner, ours.tested_on, passages, ours.precision, ours.recall, ours.f1, paper.precision AS paper_precision,
       paper.recall AS paper_recall, paper.f1 AS paper_f1, against, pairs, gain, t_test, mann_whitney, paired_t_test,
       wilcoxon, paired_t_test < 0.01 AND wilcoxon < 0.01 AS significant
FROM emo_pillars.intra_dataset AS ours
LEFT JOIN analysis.emo_pillars_paper_intra_dataset AS paper
  ON paper.learner = ours.learner AND paper.tested_on = ours.tested_on
WHERE class = 'macro' ORDER BY ours.learner, ours.tested_on
