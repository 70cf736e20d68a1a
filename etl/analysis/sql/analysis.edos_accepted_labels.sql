-- Which labels are accepted, and how often these are right on the crowd's test turns; the first row is of all labels.
--
-- The thresholds are chosen on validation turns (edos.accepted_accuracy), the figures are of test turns.
WITH answers AS (
  SELECT scores.label, scores.confidence, CAST(scores.label = given.label AS int) AS correct
  FROM edos.training_dialogues AS given JOIN edos.held_out_scores AS scores
    ON scores.history_hash = sha2(concat_ws('', transform(given.turns, turn -> coalesce(sha2(turn, 256), '-'))), 256)
  WHERE given.split = 'test' AND scores.error IS NULL
    AND scores.model IN (SELECT model FROM edos.label_thresholds)
), judged AS (
  SELECT least.label, least.threshold, answers.correct,
         answers.confidence IS NOT NULL AS answered,
         coalesce(answers.confidence >= least.threshold, false) AS label_accepted
  FROM edos.label_thresholds AS least LEFT JOIN answers ON answers.label = least.label
), counted AS (
  SELECT 0 AS place, 'all labels' AS label, CAST(NULL AS float) AS threshold, answered, label_accepted, correct FROM judged
  UNION ALL
  SELECT 1, label, threshold, answered, label_accepted, correct FROM judged
)
SELECT label, round(CAST(max(threshold) AS double), 4) AS least_confidence,
       count_if(answered) AS turns, round(avg(correct), 4) AS accuracy,
       count_if(label_accepted) AS accepted, round(avg(IF(label_accepted, correct, NULL)), 4) AS accepted_accuracy
FROM counted GROUP BY place, label ORDER BY place, label
