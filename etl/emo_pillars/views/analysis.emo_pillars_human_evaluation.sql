-- Emo Pillars 8 and I.2: accuracy, recall of neutral, agreement, use of contexts; the paper's beside ours.
--
-- measure: what is measured; after a comma the rater, where it is of one
-- value: share, number of examples or kappa, as measure says; null: nothing to count
-- number: examples or answers that the value is of
-- paper: the paper's value; null for single raters
SELECT concat_ws(', ', measure, nullif(rater, '')) AS measure, round(value, 4) AS value, number, paper
FROM emo_pillars.evaluation_scores ORDER BY place, rater
