-- EDOS Appendix C: what weighting newer turns more brings, pairs of equal seed, the paper's beside ours.
--
-- trained_on: origins of the rows trained on
-- seeds: pairs of trainings with the same seed, with and without weighting; null: only the paper has it
-- weighted_f1: macro-F1 with newer turns weighted more, percent, mean over seeds
-- unweighted_f1: macro-F1 with all turns weighted alike, percent, mean over seeds
-- gain: weighted_f1 minus unweighted_f1, in points, mean over pairs
-- gain_sd: standard deviation of the gain over pairs; null with fewer than two
-- seeds_it_helps: pairs in which weighting has the higher macro-F1
-- paper_weighted_f1: macro-F1 with weighting in the paper, percent; null: other rows
-- paper_unweighted_f1: macro-F1 without weighting in the paper, percent; null: other rows
-- paper_gain: gain in the paper, in points; null: other rows
-- encoder: what our trainings started from; the paper's is BERT-base with RoBERTa's weights
-- epochs: epochs of our trainings, the most of a row; the paper's script has 10
WITH pairs AS (
  SELECT origins, seed, substring_index(encoder, '#', 1) AS encoder, max(epochs) AS epochs,
         100 * max(macro_f1) FILTER (WHERE weighted) AS with_weights,
         100 * max(macro_f1) FILTER (WHERE NOT weighted) AS without
  FROM edos.classifier_trials GROUP BY origins, seed, substring_index(encoder, '#', 1)
  HAVING count(DISTINCT weighted) = 2
), gains AS (
  SELECT concat_ws(' + ', origins) AS trained_on, size(origins) AS added, count(*) AS seeds,
         round(avg(with_weights), 2) AS weighted_f1, round(avg(without), 2) AS unweighted_f1,
         round(avg(with_weights - without), 2) AS gain, round(stddev_samp(with_weights - without), 2) AS gain_sd,
         count_if(with_weights > without) AS seeds_it_helps, encoder, max(epochs) AS epochs
  FROM pairs GROUP BY origins, encoder
), paper AS (
  SELECT 'crowd + similar + self + similar_self' AS trained_on, 64.86D AS weighted_f1, 63.44D AS unweighted_f1
)
SELECT coalesce(gains.trained_on, paper.trained_on) AS trained_on, seeds, gains.weighted_f1,
       gains.unweighted_f1, gain, gain_sd, seeds_it_helps,
       paper.weighted_f1 AS paper_weighted_f1, paper.unweighted_f1 AS paper_unweighted_f1,
       round(paper.weighted_f1 - paper.unweighted_f1, 2) AS paper_gain, gains.encoder, gains.epochs
FROM gains FULL JOIN paper ON gains.trained_on = paper.trained_on
ORDER BY coalesce(added, 4)
