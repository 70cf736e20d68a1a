-- One row for each worker: HITs, quiz, pay, time, share with the majority.
WITH votes AS (
  SELECT answers.worker_id, count(*) AS dialogues, count_if(answers.specified) AS specified,
         count(agreed.label) AS with_majority, count_if(answers.label = agreed.label) AS with_the_majority
  FROM edos.answers AS answers
  LEFT JOIN edos.crowd_labels AS agreed
    ON agreed.dialogue_id = answers.dialogue_id AND agreed.turn = answers.turn
  WHERE answers.purpose = 'crowd' AND answers.quiz_label IS NULL
  GROUP BY answers.worker_id
), hits AS (
  SELECT worker_id, count(*) AS hits, sum(quiz) AS quiz, sum(quiz_right) AS quiz_right, count_if(passed) AS passed,
         sum(reward) AS reward, sum(bonus) AS bonus,
         round(avg(CASE WHEN NOT unusually_long THEN seconds END) / 60, 2) AS minutes_a_hit
  FROM edos.assignments WHERE purpose = 'crowd' GROUP BY worker_id
)
SELECT hits.worker_id, hits.hits, votes.dialogues, hits.quiz, hits.quiz_right,
       round(100 * try_divide(hits.quiz_right, hits.quiz), 2) AS quiz_percent, hits.passed,
       hits.reward, hits.bonus, hits.minutes_a_hit, votes.specified,
       round(100 * try_divide(votes.with_the_majority, votes.with_majority), 2) AS percent_with_majority
FROM hits LEFT JOIN votes ON votes.worker_id = hits.worker_id ORDER BY hits.hits DESC, hits.worker_id
