-- How f and d correlate with the readability score under each reading of EDOS A.
--
-- The paper states the score f + 0.04 d and neither the scale of frequencies nor that of distinct words. The terms are
-- those of etl.edos.readability.Reading.
WITH readings AS (
  SELECT * FROM VALUES (1, 'relative', 'share'), (2, 'relative', 'percent'), (3, 'counts', 'share'),
    (4, 'counts', 'percent') AS readings(place, frequencies, distinct_words)
), terms AS (
  SELECT readings.*,
         double(IF(frequencies = 'relative', count_sum / corpus_tokens, count_sum) / (87 + tokens)) AS f,
         double(IF(distinct_words = 'share', 1, 100) * distinct_tokens / tokens) AS d
  FROM readings LEFT JOIN (SELECT count_sum, corpus_tokens, tokens, distinct_tokens FROM edos.readability) ON true
), correlated AS (
  SELECT place, frequencies, distinct_words, count(f) AS turns,
         round(corr(f, round(f + 0.04 * d, 6)), 4) AS correlation_with_f,
         round(corr(d, round(f + 0.04 * d, 6)), 4) AS correlation_with_d
  FROM terms GROUP BY place, frequencies, distinct_words
)
SELECT frequencies, distinct_words, turns, correlation_with_f, correlation_with_d FROM correlated ORDER BY place
