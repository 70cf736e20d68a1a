-- EDOS Table 5: classifiers by macro-F1 and accuracy; our arms' means over seeds, the paper's beside them.
--
-- place: order of the rows: other papers' classifiers, ours, floors, ceiling
-- classifier: name of the classifier, floor or ceiling
-- trained_on: data of other papers' classifiers; origins of the rows that ours learned from; empty for floors and ceiling
-- seeds: trainings that the means are over; 0: not ours, or not trained
-- macro_precision: macro-precision on the crowd's test turns, percent, mean over seeds
-- macro_recall: macro-recall, percent, mean over seeds
-- macro_f1: macro-F1, percent, mean over seeds; of a floor: expected on the same turns
-- macro_f1_sd: standard deviation of macro_f1 over seeds; null with fewer than two
-- accuracy: share of right labels, percent, mean over seeds; of the ceiling: a worker's
-- accuracy_sd: standard deviation of accuracy over seeds; null with fewer than two
-- paper_macro_f1: macro-F1 that the paper prints, percent; null: none
-- paper_accuracy: accuracy that the paper prints, percent; null: none
-- seconds: time of a training in seconds, mean over seeds
-- paper_macro_precision: macro-precision that the paper prints, percent; null: none
-- paper_macro_recall: macro-recall that the paper prints, percent; null: none
-- paper_seconds: time of the paper's training in seconds; null: not given
-- encoder: what our arms started from; the paper's EDOS rows are of BERT-base with RoBERTa's weights; null: not ours
-- epochs: epochs of our trainings, the most of an arm; the paper's script has 10; null: not ours
--
-- The paper's 546.84 s are on two Titan X (appendix C). Floors are expectations on the same test rows: the most
-- frequent label for all, and labels drawn evenly. The ceiling is people: how often a worker's answer is the label that
-- the two others of a turn agree on.
WITH arms AS (
  SELECT weighted, concat_ws(' + ', origins) AS trained_on, size(origins) AS added, count(*) AS seeds,
         100 * avg(macro_precision) AS precision, 100 * avg(macro_recall) AS recall,
         100 * avg(macro_f1) AS f1, 100 * stddev_samp(macro_f1) AS f1_sd,
         100 * avg(accuracy) AS accuracy, 100 * stddev_samp(accuracy) AS accuracy_sd, avg(seconds) AS seconds,
         substring_index(encoder, '#', 1) AS encoder, max(epochs) AS epochs
  FROM edos.classifier_trials GROUP BY weighted, origins, substring_index(encoder, '#', 1)
), paper AS (
  SELECT true AS weighted, 'crowd + similar + self + similar_self' AS trained_on, 64.11D AS precision, 64.59D AS recall,
         63.86D AS macro_f1, 65.00D AS accuracy, 546.84D AS seconds
), ours AS (
  SELECT 100 + 10 * coalesce(arms.added, 4) + IF(coalesce(arms.weighted, true), 1, 0) AS place,
         concat('EDOS, ', IF(coalesce(arms.weighted, true), 'weighted', 'unweighted')) AS classifier,
         coalesce(arms.trained_on, paper.trained_on) AS trained_on, coalesce(arms.seeds, 0) AS seeds,
         round(arms.precision, 2) AS macro_precision, round(arms.recall, 2) AS macro_recall,
         round(f1, 2) AS macro_f1, round(f1_sd, 2) AS macro_f1_sd,
         round(arms.accuracy, 2) AS accuracy, round(arms.accuracy_sd, 2) AS accuracy_sd,
         paper.macro_f1 AS paper_macro_f1, paper.accuracy AS paper_accuracy, round(arms.seconds, 2) AS seconds,
         paper.precision AS paper_macro_precision, paper.recall AS paper_macro_recall, paper.seconds AS paper_seconds,
         arms.encoder, arms.epochs
  FROM arms FULL JOIN paper ON arms.weighted = paper.weighted AND arms.trained_on = paper.trained_on
), shares AS (
  SELECT class.support / sum(class.support) OVER () AS p, count(*) OVER () AS k
  FROM (SELECT min_by(classes, trial) AS classes FROM edos.classifier_trials) LATERAL VIEW explode(classes) AS class
), floors AS (
  SELECT max(p) AS majority, max(2 * p / (1 + p)) / max(k) AS majority_f1, 1 / max(k) AS even,
         avg(2 * p / k / (p + 1 / k)) AS even_f1
  FROM shares HAVING count(*) > 0
)
SELECT place, classifier, trained_on, 0L AS seeds, CAST(NULL AS double) AS macro_precision,
       CAST(NULL AS double) AS macro_recall, CAST(NULL AS double) AS macro_f1, CAST(NULL AS double) AS macro_f1_sd,
       CAST(NULL AS double) AS accuracy, CAST(NULL AS double) AS accuracy_sd,
       macro_f1 AS paper_macro_f1, accuracy AS paper_accuracy, CAST(NULL AS double) AS seconds,
       CAST(NULL AS double) AS paper_macro_precision, CAST(NULL AS double) AS paper_macro_recall,
       CAST(NULL AS double) AS paper_seconds, CAST(NULL AS string) AS encoder, CAST(NULL AS int) AS epochs
FROM analysis.edos_paper_table_5
UNION ALL SELECT * FROM ours
UNION ALL
SELECT 1000, 'floor: the most frequent label', '', 0L, NULL, NULL, round(100 * majority_f1, 2), NULL,
       round(100 * majority, 2), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM floors
UNION ALL
SELECT 1001, 'floor: labels at random', '', 0L, NULL, NULL, round(100 * even_f1, 2), NULL, round(100 * even, 2), NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM floors
UNION ALL
SELECT 1002, 'ceiling: a worker, where two others agree', '', 0L, NULL, NULL, NULL, NULL,
       round(100 * avg(CAST(get(votes, a) = get(votes, (a + 1) % 3) AS int)), 2), NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL
FROM edos.crowd_labels LATERAL VIEW explode(array(0, 1, 2)) AS a
WHERE size(votes) = 3 AND get(votes, (a + 1) % 3) = get(votes, (a + 2) % 3) HAVING count(*) > 0
ORDER BY place, trained_on, encoder
