-- Precision, recall and F1 of each label in each arm of the comparison, means over seeds.
--
-- In percent.
SELECT concat_ws(' + ', origins) AS trained_on, weighted, class.label AS label, count(*) AS seeds,
       round(100 * avg(class.precision), 2) AS precision, round(100 * avg(class.recall), 2) AS recall,
       round(100 * avg(class.f1), 2) AS f1, max(class.support) AS support
FROM edos.classifier_trials LATERAL VIEW explode(classes) AS class
GROUP BY origins, weighted, class.label ORDER BY size(origins), weighted, f1 DESC, label
