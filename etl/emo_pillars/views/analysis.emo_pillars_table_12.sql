-- Emo Pillars Table 12: how alike the utterances of one main emotion are.
--
-- label: emotion that the utterances were made for
-- utterances: utterances of the emotion in the context-full data set
-- pairs: pairs of a sample of them that were compared; null: none
-- mean: mean cosine of the pairs
-- paper_mean: mean cosine in the paper
-- deviation: standard deviation of the cosines
-- paper_deviation: standard deviation in the paper
-- percentile_99: cosine that 99 % of the pairs do not exceed
-- paper_utterances: utterances of the emotion in the paper
WITH sizes AS (
  SELECT primary_label AS label, count(*) AS utterances FROM emo_pillars.contextual_examples GROUP BY primary_label
)
SELECT paper.label, coalesce(sizes.utterances, 0) AS utterances, ours.pairs, ours.mean, paper.mean AS paper_mean,
       ours.deviation, paper.deviation AS paper_deviation, ours.percentile_99, paper.utterances AS paper_utterances
FROM analysis.emo_pillars_paper_table_12 AS paper
LEFT JOIN emo_pillars.similarities AS ours ON ours.label = paper.label AND ours.kind = 'utterances of one emotion'
LEFT JOIN sizes ON sizes.label = paper.label ORDER BY paper.label
