-- Emo Pillars 7: how alike utterances and contexts are; the paper's figures beside ours.
SELECT paper.kind, ours.pairs, ours.mean, paper.mean AS paper_mean, ours.deviation,
       paper.deviation AS paper_deviation, ours.percentile_99, paper.percentile_99 AS paper_percentile_99, ours.model
FROM analysis.emo_pillars_paper_similarities AS paper
LEFT JOIN emo_pillars.similarities AS ours ON ours.kind = paper.kind ORDER BY place
