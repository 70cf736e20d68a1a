-- AugESC A: which judges of emotion and toxicity the queries of a source passed, each with its model.
--
-- None are the first posts of EmpatheticDialogues, whose emotion people labelled.
SELECT source, coalesce(nullif(array_join(judged_by, ', '), ''), 'none') AS judges, count(*) AS queries
FROM augesc.queries GROUP BY source, coalesce(nullif(array_join(judged_by, ', '), ''), 'none')
ORDER BY source, judges
