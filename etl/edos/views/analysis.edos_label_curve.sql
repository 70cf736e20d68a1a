-- How often the classifier's labels are those of people, on the test turns that it is surest of, by tenths.
--
-- surest_share: share of the test turns that is taken, those of the highest confidence
-- turns: test turns in it
-- least_confidence: lowest confidence among them
-- accuracy: share of them whose label is the crowd's
--
-- Of the crowd's test turns alone, by which nothing is chosen. A random choice of as many turns would have the accuracy
-- of the last row, which takes all.
WITH ranked AS (
  SELECT confidence, CAST(correct AS int) AS correct, count(*) OVER () AS total,
         row_number() OVER (ORDER BY confidence DESC, dialogue_id, turn) AS place
  FROM analysis.edos_test_answers
), tenths AS (
  SELECT * FROM VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10) AS given(tenth)
)
SELECT tenth / 10D AS surest_share, count(*) AS turns, round(min(CAST(confidence AS double)), 4) AS least_confidence,
       round(avg(correct), 4) AS accuracy
FROM ranked JOIN tenths ON 10 * (place - 1) < tenth * total
GROUP BY tenth ORDER BY tenth
