-- Which labels are accepted, and how often these are right on the crowd's test turns; the first row is of all labels.
--
-- label: label that the classifier gives; all labels: the first row
-- least_confidence: confidence from which the label is accepted; null: it never is, or the first row
-- turns: test turns that the classifier gives the label
-- accuracy: share of these turns that the crowd gave the same label; null: no turns
-- accepted: test turns whose confidence reaches the threshold of the label
-- accepted_accuracy: share of the accepted ones that the crowd gave the same label; null: none
--
-- The thresholds are chosen on validation turns (edos.accepted_accuracy), the figures are of test turns.
WITH judged AS (
  SELECT least.label, least.threshold, CAST(answers.correct AS int) AS correct,
         answers.confidence IS NOT NULL AS answered, coalesce(answers.label_accepted, false) AS label_accepted
  FROM edos.label_thresholds AS least LEFT JOIN analysis.edos_test_answers AS answers ON answers.label = least.label
), counted AS (
  SELECT 0 AS place, 'all labels' AS label, CAST(NULL AS float) AS threshold, answered, label_accepted, correct FROM judged
  UNION ALL
  SELECT 1, label, threshold, answered, label_accepted, correct FROM judged
)
SELECT label, round(CAST(max(threshold) AS double), 4) AS least_confidence,
       count_if(answered) AS turns, round(avg(correct), 4) AS accuracy,
       count_if(label_accepted) AS accepted, round(avg(IF(label_accepted, correct, NULL)), 4) AS accepted_accuracy
FROM counted GROUP BY place, label ORDER BY place, label
