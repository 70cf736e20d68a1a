-- EDOS Appendix C: what weighting newer turns more brings, pairs of equal seed, the paper's beside ours.
--
-- In percent.
WITH pairs AS (
  SELECT origins, seed, 100 * max(macro_f1) FILTER (WHERE weighted) AS with_weights,
         100 * max(macro_f1) FILTER (WHERE NOT weighted) AS without
  FROM edos.classifier_trials GROUP BY origins, seed
  HAVING count(DISTINCT weighted) = 2
), gains AS (
  SELECT concat_ws(' + ', origins) AS trained_on, size(origins) AS added, count(*) AS seeds,
         round(avg(with_weights), 2) AS weighted_f1, round(avg(without), 2) AS unweighted_f1,
         round(avg(with_weights - without), 2) AS gain, round(stddev_samp(with_weights - without), 2) AS gain_sd,
         count_if(with_weights > without) AS seeds_it_helps
  FROM pairs GROUP BY origins
), paper AS (
  SELECT 'crowd + similar + self + similar_self' AS trained_on, 64.86D AS weighted_f1, 63.44D AS unweighted_f1
)
SELECT gains.trained_on, seeds, gains.weighted_f1, gains.unweighted_f1, gain, gain_sd, seeds_it_helps,
       paper.weighted_f1 AS paper_weighted_f1, paper.unweighted_f1 AS paper_unweighted_f1,
       round(paper.weighted_f1 - paper.unweighted_f1, 2) AS paper_gain
FROM gains LEFT JOIN paper ON gains.trained_on = paper.trained_on
ORDER BY added
