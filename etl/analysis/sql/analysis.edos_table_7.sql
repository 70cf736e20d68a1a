-- EDOS Table 7: response generators by perplexity, distinct-1, -2 and similarity, the paper's beside ours.
SELECT paper.generator, paper.source, IF(paper.generator = IF(paper.source = 'os', 'pretrained', paper.source),
       'held-out', 'zero-shot') AS setting, ours.examples, ours.perplexity, ours.word_perplexity,
       round(ours.distinct_1, 3) AS distinct_1, round(ours.distinct_2, 3) AS distinct_2,
       round(ours.similarity, 3) AS similarity,
       ours.perplexity = min(ours.perplexity) OVER (PARTITION BY paper.source) AS likeliest,
       paper.perplexity AS paper_perplexity, paper.distinct_1 AS paper_distinct_1,
       paper.distinct_2 AS paper_distinct_2, paper.similarity AS paper_similarity
FROM analysis.edos_paper_table_7 AS paper
LEFT JOIN replies.evaluation AS ours ON ours.generator = paper.generator AND ours.source = paper.source
ORDER BY paper.place
