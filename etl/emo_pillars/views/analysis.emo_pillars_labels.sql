-- Emo Pillars Figures 3 and 4: emotions asked for and expressed.
--
-- label: name of the label
-- polarity: positive, negative, ambiguous or neutral
-- primary_labels: examples whose utterance was made for the label
-- labels: examples in which the label is expressed, strongly enough to be kept
-- mean_level: mean level of the label in these examples, 0 to 1; null: there are none
WITH asked AS (
  SELECT primary_label AS label, count(*) AS primary_labels FROM emo_pillars.examples GROUP BY primary_label
), expressed AS (
  SELECT one.label, count(*) AS labels, round(avg(one.level), 4) AS mean_level
  FROM emo_pillars.examples LATERAL VIEW explode(labels) AS one GROUP BY one.label
)
SELECT polarities.label, polarity, coalesce(primary_labels, 0) AS primary_labels, coalesce(labels, 0) AS labels,
       mean_level
FROM analysis.emo_pillars_polarities AS polarities LEFT JOIN asked ON asked.label = polarities.label
LEFT JOIN expressed ON expressed.label = polarities.label
ORDER BY labels DESC, label
