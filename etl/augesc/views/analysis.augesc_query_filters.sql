-- AugESC 4.2, A: which judges of emotion and toxicity the queries of a source passed, how many they are and how long.
--
-- source: where the queries come from: ed or reddit
-- judges: classifiers that the queries passed, each with its model; none: people labelled them
-- queries: queries of the source that passed these judges
-- paper_queries: queries of the source in the paper
-- query_tokens: NLTK tokens of a query, mean
-- paper_query_tokens: tokens of a query in the paper, mean
--
-- None are the first posts of EmpatheticDialogues, whose emotion people labelled.
SELECT source, coalesce(nullif(array_join(judged_by, ', '), ''), 'none') AS judges, count(*) AS queries,
       CASE source WHEN 'ed' THEN 8950 WHEN 'reddit' THEN 24766 END AS paper_queries,
       round(avg(tokens), 1) AS query_tokens, CASE source WHEN 'ed' THEN 19.9D WHEN 'reddit' THEN 39.1D END AS paper_query_tokens
FROM augesc.queries GROUP BY source, coalesce(nullif(array_join(judged_by, ', '), ''), 'none')
ORDER BY source, judges
