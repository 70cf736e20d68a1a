-- Emo Pillars 7: how alike utterances and contexts are; the paper's figures beside ours.
--
-- kind: texts that are compared, in pairs
-- pairs: pairs that were compared; null: none
-- mean: mean cosine of the pairs
-- paper_mean: mean cosine in the paper
-- deviation: standard deviation of the cosines
-- paper_deviation: standard deviation in the paper
-- percentile_99: cosine that 99 % of the pairs do not exceed
-- paper_percentile_99: the same in the paper; null: it does not say
-- model: identity of our encoder
SELECT paper.kind, ours.pairs, ours.mean, paper.mean AS paper_mean, ours.deviation,
       paper.deviation AS paper_deviation, ours.percentile_99, paper.percentile_99 AS paper_percentile_99, ours.model
FROM analysis.emo_pillars_paper_similarities AS paper
LEFT JOIN emo_pillars.similarities AS ours ON ours.kind = paper.kind ORDER BY place
