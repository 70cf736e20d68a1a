-- How often each asked intent is read in the reply: asked, unasked, without intents, and in people's true replies.
--
-- reader: identity of the classifier that reads intents in replies
-- intent: intent that is asked for and looked for; all: of all intents
-- replies: replies written with this intent asked for that the reader read; failed ones left out
-- asked_rate: share of these replies in which the intent is read
-- unasked_rate: floor: share of the same generator's replies in which it is read, none asked; null: none
-- plain_rate: share of the replies of the generator without intents in which it is read; null: none
-- times_plain: asked_rate over plain_rate; null: never read there
-- times_unasked: asked_rate over unasked_rate; null: never read there
-- asked_low: lower end of the 95 % interval of asked_rate, Wilson's
-- asked_high: upper end of the 95 % interval of asked_rate
-- unasked_low: lower end of the 95 % interval of unasked_rate; null in the row of all
-- unasked_high: upper end of the 95 % interval of unasked_rate; null in the row of all
-- true_replies: people's test replies of the intent that were read
-- true_rate: ceiling: share of people's replies of the intent in which it is read
-- true_low: lower end of the 95 % interval of true_rate
-- true_high: upper end of the 95 % interval of true_rate
-- enough: 200 replies or more; null in the row of all
--
-- The unasked replies are the same for all intents, so that the row of all has no interval for them.
WITH answers AS (
  SELECT steered.generator, steered.intent, readings.model AS reader, readings.label
  FROM replies.steered AS steered JOIN replies.intent_readings AS readings USING (history_hash)
  WHERE steered.error IS NULL AND readings.error IS NULL
), asked AS (
  SELECT reader, intent, count(*) AS replies, count_if(label = intent) AS read_as
  FROM answers WHERE intent IS NOT NULL GROUP BY reader, intent
), unasked AS (
  SELECT reader, generator, label, count(*) AS n FROM answers WHERE intent IS NULL GROUP BY reader, generator, label
), totals AS (
  SELECT reader, sum(n) FILTER (WHERE generator = 'steered') AS same,
         sum(n) FILTER (WHERE generator <> 'steered') AS plain
  FROM unasked GROUP BY reader
), people AS (
  SELECT examples.intent, sha2(concat_ws('', transform(concat(examples.context, array(examples.reply)),
         turn -> coalesce(sha2(turn, 256), '-'))), 256) AS history_hash
  FROM replies.examples AS examples
  WHERE examples.source = 'empathetic' AND examples.split = 'test' AND examples.intent IS NOT NULL
), true_replies AS (
  SELECT readings.model AS reader, people.intent, count(*) AS n, count_if(readings.label = people.intent) AS read_as
  FROM people JOIN replies.intent_readings AS readings USING (history_hash)
  WHERE readings.error IS NULL GROUP BY readings.model, people.intent
), counts AS (
  SELECT 1 AS place, asked.reader, asked.intent, asked.replies, asked.read_as,
         totals.same, IF(totals.same > 0, coalesce(own.n, 0), NULL) AS same_read,
         totals.plain, IF(totals.plain > 0, coalesce(other.n, 0), NULL) AS plain_read,
         true_replies.n AS people, true_replies.read_as AS people_read
  FROM asked
  LEFT JOIN totals ON totals.reader = asked.reader
  LEFT JOIN unasked AS own
    ON own.reader = asked.reader AND own.generator = 'steered' AND own.label = asked.intent
  LEFT JOIN unasked AS other
    ON other.reader = asked.reader AND other.generator <> 'steered' AND other.label = asked.intent
  LEFT JOIN true_replies ON true_replies.reader = asked.reader AND true_replies.intent = asked.intent
), shown AS (
  SELECT * FROM counts
  UNION ALL
  SELECT 0, reader, 'all', sum(replies), sum(read_as), sum(same), sum(same_read), sum(plain), sum(plain_read),
         sum(people), sum(people_read)
  FROM counts GROUP BY reader
), rates AS (
  SELECT *, try_divide(hits, n) AS rate,
         try_divide(try_divide(hits, n) + try_divide(1.9207D, n), 1 + try_divide(3.8415D, n)) AS middle,
         try_divide(1.96D * sqrt(try_divide(hits * (n - hits), n * n * n) + try_divide(0.9604D, n * n)),
                    1 + try_divide(3.8415D, n)) AS width
  FROM (SELECT place, reader, intent, replies, people,
               stack(4, 'asked', read_as, replies, 'unasked', same_read, same, 'plain', plain_read, plain,
                     'true', people_read, people) AS (what, hits, n) FROM shown)
), sides AS (
  SELECT place, reader, intent, replies, people,
         max(rate) FILTER (WHERE what = 'asked') AS asked, max(middle) FILTER (WHERE what = 'asked') AS asked_middle,
         max(width) FILTER (WHERE what = 'asked') AS asked_width, max(rate) FILTER (WHERE what = 'unasked') AS unasked,
         max(middle) FILTER (WHERE what = 'unasked') AS unasked_middle,
         max(width) FILTER (WHERE what = 'unasked') AS unasked_width,
         max(rate) FILTER (WHERE what = 'plain') AS plain, max(rate) FILTER (WHERE what = 'true') AS true_rate,
         max(middle) FILTER (WHERE what = 'true') AS true_middle, max(width) FILTER (WHERE what = 'true') AS true_width
  FROM rates GROUP BY place, reader, intent, replies, people
)
SELECT reader, intent, replies, round(asked, 4) AS asked_rate, round(unasked, 4) AS unasked_rate,
       round(plain, 4) AS plain_rate, round(try_divide(asked, plain), 2) AS times_plain,
       round(try_divide(asked, unasked), 2) AS times_unasked,
       round(asked_middle - asked_width, 4) AS asked_low, round(asked_middle + asked_width, 4) AS asked_high,
       IF(place = 1, round(unasked_middle - unasked_width, 4), NULL) AS unasked_low,
       IF(place = 1, round(unasked_middle + unasked_width, 4), NULL) AS unasked_high,
       people AS true_replies, round(true_rate, 4) AS true_rate, round(true_middle - true_width, 4) AS true_low,
       round(true_middle + true_width, 4) AS true_high, IF(place = 1, replies >= 200, NULL) AS enough
FROM sides ORDER BY reader, place, asked_rate DESC, intent
