-- Emo Pillars 8 and I.2: accuracy, recall of neutral, agreement, use of contexts; the paper's beside ours.
SELECT concat_ws(', ', measure, nullif(rater, '')) AS measure, round(value, 4) AS value, number, paper
FROM emo_pillars.evaluation_scores ORDER BY place, rater
