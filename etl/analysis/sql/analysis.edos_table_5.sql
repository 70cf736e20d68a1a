-- EDOS Table 5: classifiers by macro-F1 and accuracy; our arms' means over seeds, the paper's beside them.
--
-- In percent.
WITH arms AS (
  SELECT weighted, concat_ws(' + ', origins) AS trained_on, size(origins) AS added, count(*) AS seeds,
         100 * avg(macro_precision) AS precision, 100 * avg(macro_recall) AS recall,
         100 * avg(macro_f1) AS f1, 100 * stddev_samp(macro_f1) AS f1_sd,
         100 * avg(accuracy) AS accuracy, 100 * stddev_samp(accuracy) AS accuracy_sd
  FROM edos.classifier_trials GROUP BY weighted, origins
), paper AS (
  SELECT true AS weighted, 'crowd + similar + self + similar_self' AS trained_on, 63.86D AS macro_f1, 65.00D AS accuracy
), ours AS (
  SELECT 100 + 10 * coalesce(arms.added, 4) + IF(coalesce(arms.weighted, true), 1, 0) AS place,
         concat('EDOS, ', IF(coalesce(arms.weighted, true), 'weighted', 'unweighted')) AS classifier,
         coalesce(arms.trained_on, paper.trained_on) AS trained_on, coalesce(arms.seeds, 0) AS seeds,
         round(precision, 2) AS macro_precision, round(recall, 2) AS macro_recall,
         round(f1, 2) AS macro_f1, round(f1_sd, 2) AS macro_f1_sd,
         round(arms.accuracy, 2) AS accuracy, round(arms.accuracy_sd, 2) AS accuracy_sd,
         paper.macro_f1 AS paper_macro_f1, paper.accuracy AS paper_accuracy
  FROM arms FULL JOIN paper ON arms.weighted = paper.weighted AND arms.trained_on = paper.trained_on
)
SELECT place, classifier, trained_on, 0L AS seeds, CAST(NULL AS double) AS macro_precision,
       CAST(NULL AS double) AS macro_recall, CAST(NULL AS double) AS macro_f1, CAST(NULL AS double) AS macro_f1_sd,
       CAST(NULL AS double) AS accuracy, CAST(NULL AS double) AS accuracy_sd,
       macro_f1 AS paper_macro_f1, accuracy AS paper_accuracy
FROM analysis.edos_paper_table_5
UNION ALL SELECT * FROM ours ORDER BY place, trained_on
