-- Emo Pillars Figure 7: emotions of the examples nearest to a query, against those of all.
--
-- label: name of the label
-- polarity: positive, negative, ambiguous or neutral
-- number: examples near the query that have the label
-- share: share of all labels of the examples near the query; null: there are none
-- share_of_all: share of all labels of all examples; null: there are none
WITH near AS (SELECT explode(labels) AS label FROM emo_pillars.query_examples),
said AS (SELECT one.label FROM emo_pillars.examples LATERAL VIEW explode(labels) AS one),
near_counts AS (SELECT label, count(*) AS number FROM near GROUP BY label),
all_counts AS (SELECT label, count(*) AS number FROM said GROUP BY label)
SELECT polarities.label, polarity, coalesce(near_counts.number, 0) AS number,
       round(try_divide(coalesce(near_counts.number, 0), sum(near_counts.number) OVER ()), 4) AS share,
       round(try_divide(coalesce(all_counts.number, 0), sum(all_counts.number) OVER ()), 4) AS share_of_all
FROM analysis.emo_pillars_polarities AS polarities
LEFT JOIN near_counts ON near_counts.label = polarities.label
LEFT JOIN all_counts ON all_counts.label = polarities.label ORDER BY number DESC, label
