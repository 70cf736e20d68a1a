-- How often each asked intent is read in the reply: asked, unasked, and by the generator that takes none.
WITH answers AS (
  SELECT steered.generator, steered.intent, readings.model AS reader, readings.label
  FROM replies.steered AS steered JOIN replies.intent_readings AS readings USING (history_hash)
  WHERE steered.error IS NULL AND readings.error IS NULL
), asked AS (
  SELECT reader, intent, count(*) AS replies, count_if(label = intent) AS read_as
  FROM answers WHERE intent IS NOT NULL GROUP BY reader, intent
), unasked AS (
  SELECT reader, generator, label, count(*) AS n, sum(count(*)) OVER (PARTITION BY reader, generator) AS total
  FROM answers WHERE intent IS NULL GROUP BY reader, generator, label
), totals AS (SELECT reader, generator, max(total) AS total FROM unasked GROUP BY reader, generator
), rates AS (
  SELECT asked.reader, asked.intent, asked.replies, asked.read_as / asked.replies AS asked_rate,
         IF(same.total > 0, coalesce(own.n, 0) / same.total, NULL) AS unasked_rate,
         IF(plain.total > 0, coalesce(other.n, 0) / plain.total, NULL) AS plain_rate
  FROM asked
  LEFT JOIN totals AS same ON same.reader = asked.reader AND same.generator = 'steered'
  LEFT JOIN totals AS plain ON plain.reader = asked.reader AND plain.generator = 'empathetic'
  LEFT JOIN unasked AS own
    ON own.reader = asked.reader AND own.generator = 'steered' AND own.label = asked.intent
  LEFT JOIN unasked AS other
    ON other.reader = asked.reader AND other.generator = 'empathetic' AND other.label = asked.intent
), shown AS (
  SELECT 1 AS place, * FROM rates
  UNION ALL
  SELECT 0, reader, 'all', sum(replies), avg(asked_rate), avg(unasked_rate), avg(plain_rate)
  FROM rates GROUP BY reader
)
SELECT reader, intent, replies, round(asked_rate, 4) AS asked_rate, round(unasked_rate, 4) AS unasked_rate,
       round(plain_rate, 4) AS plain_rate, round(try_divide(asked_rate, plain_rate), 2) AS times_plain
FROM shown ORDER BY reader, place, asked_rate DESC, intent
