-- The judge's verdicts on the examples of the questionnaire, beside people's, their own agreement, and two floors.
--
-- A rater accepts an example's labels by choosing the option that has them, or by calling it neutral where that is its
-- only label; the judge by finding all of them fitting. Kappa is Cohen's; of several pairs, the mean.
WITH given AS (
  SELECT utterance_id, rewritten, worker_id, max(neutral) AS neutral, max(answer) AS answer,
         max(CASE WHEN question = 'neutral' THEN value END) AS said_neutral,
         max(CASE WHEN question = 'choice' THEN value END) AS choice
  FROM emo_pillars.evaluation_answers GROUP BY utterance_id, rewritten, worker_id
), people AS (
  SELECT utterance_id, rewritten, worker_id,
         CAST(CASE WHEN neutral = 'alone' THEN said_neutral = 'yes' ELSE choice = answer END AS int) AS accepted
  FROM given WHERE said_neutral IS NOT NULL AND choice IS NOT NULL
), majority AS (
  SELECT utterance_id, rewritten, CASE WHEN avg(accepted) > 0.5 THEN 1 ELSE 0 END AS accepted
  FROM people GROUP BY utterance_id, rewritten HAVING avg(accepted) <> 0.5
), usual AS (
  SELECT CASE WHEN avg(accepted) >= 0.5 THEN 1 ELSE 0 END AS accepted FROM majority
), judge AS (
  SELECT utterance_id, rewritten, model, CAST(accepted AS int) AS accepted FROM emo_pillars.verdicts
), answers AS (
  SELECT 1 AS place, 'the judge and the majority' AS compared, model AS one, 'majority' AS other,
         judge.accepted AS first_answer, majority.accepted AS second_answer
  FROM judge JOIN majority ON majority.utterance_id = judge.utterance_id AND majority.rewritten = judge.rewritten
  UNION ALL
  SELECT 2, 'the judge and a rater', model, worker_id, judge.accepted, people.accepted
  FROM judge JOIN people ON people.utterance_id = judge.utterance_id AND people.rewritten = judge.rewritten
  UNION ALL
  SELECT 3, 'two raters', a.worker_id, b.worker_id, a.accepted, b.accepted
  FROM people AS a JOIN people AS b
  ON b.utterance_id = a.utterance_id AND b.rewritten = a.rewritten AND a.worker_id < b.worker_id
  UNION ALL
  SELECT 4, 'always the most frequent verdict', 'always', 'majority', usual.accepted, majority.accepted
  FROM majority CROSS JOIN usual
), pairs AS (
  SELECT place, compared, one, other, count(*) AS examples,
         avg(CASE WHEN first_answer = second_answer THEN 1.0D ELSE 0.0D END) AS observed,
         avg(first_answer) * avg(second_answer) + (1 - avg(first_answer)) * (1 - avg(second_answer)) AS chance
  FROM answers GROUP BY place, compared, one, other
), measured AS (
  SELECT place, compared, sum(examples) AS examples, sum(examples * observed) / sum(examples) AS accuracy,
         avg(CASE WHEN chance < 1 THEN (observed - chance) / (1 - chance) END) AS kappa
  FROM pairs GROUP BY place, compared
  UNION ALL
  SELECT 5, 'chance, with the shares of the judge and the majority', examples, chance, 0.0D
  FROM pairs WHERE place = 1
)
SELECT compared, CAST(examples AS bigint) AS examples, round(accuracy, 4) AS accuracy, round(kappa, 4) AS kappa
FROM measured ORDER BY place
