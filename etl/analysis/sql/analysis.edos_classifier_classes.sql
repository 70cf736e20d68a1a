-- Precision, recall and F1 of each label in each arm of the comparison, means over seeds.
--
-- In percent. Floors, as expectations: always_f1 gives every row this label, random_f1 draws labels evenly.
WITH rows AS (
  SELECT *, aggregate(classes, 0L, (total, class) -> total + class.support) AS tested, size(classes) AS labels
  FROM edos.classifier_trials
)
SELECT concat_ws(' + ', origins) AS trained_on, weighted, class.label AS label, count(*) AS seeds,
       round(100 * avg(class.precision), 2) AS precision, round(100 * avg(class.recall), 2) AS recall,
       round(100 * avg(class.f1), 2) AS f1, max(class.support) AS support,
       round(100 * avg(2 * class.support / (tested + class.support)), 2) AS always_f1,
       round(100 * avg(2 * class.support / (tested + class.support * labels)), 2) AS random_f1
FROM rows LATERAL VIEW explode(classes) AS class
GROUP BY origins, weighted, class.label ORDER BY size(origins), weighted, f1 DESC, label
