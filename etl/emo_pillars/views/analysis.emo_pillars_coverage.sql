-- Emo Pillars 7: rare emotions and the balance of polarities, of all and near the query (Figure 7); the paper's beside ours.
--
-- place: order of the rows
-- measure: what value and paper are: a number of emotions, or percent of the labels
-- value: of our examples; null: there are none
-- paper: of the paper's examples
WITH said AS (SELECT one.label FROM emo_pillars.examples LATERAL VIEW explode(labels) AS one),
counts AS (
  SELECT polarities.label, polarity, count(said.label) AS number
  FROM analysis.emo_pillars_polarities AS polarities LEFT JOIN said ON said.label = polarities.label
  GROUP BY polarities.label, polarity
), shares AS (
  SELECT label, polarity, number, try_divide(number, sum(number) OVER ()) AS share,
         try_divide(number, sum(CASE WHEN polarity != 'neutral' THEN number END) OVER ()) AS share_of_emotions
  FROM counts
)
SELECT 0 AS place, 'emotions with less than 1.5 % of the labels' AS measure,
       CAST(count_if(share < 0.015 AND polarity != 'neutral') AS double) AS value, 8D AS paper FROM shares
UNION ALL
SELECT CASE polarity WHEN 'positive' THEN 1 WHEN 'negative' THEN 2 ELSE 3 END, concat('percent ', polarity),
       round(100 * sum(share_of_emotions), 1),
       CASE polarity WHEN 'positive' THEN 33D WHEN 'negative' THEN 48D ELSE 19D END
FROM shares WHERE polarity != 'neutral' GROUP BY polarity
UNION ALL SELECT 4, 'percent neutral', round(100 * sum(share), 1), 2.7D FROM shares WHERE polarity = 'neutral'
UNION ALL
SELECT 5, 'percent positive near the query', round(100 * avg(CAST(polarity = 'positive' AS int)), 1), 82D
FROM (SELECT explode(labels) AS label FROM emo_pillars.query_examples) AS near
JOIN analysis.emo_pillars_polarities AS polarities ON polarities.label = near.label AND polarity != 'neutral'
ORDER BY place
