-- AugESC A: which judges of emotion and toxicity were asked about the queries of a source, each with its model; none: people labelled them.
SELECT source, coalesce(judge, 'none') AS judge, count(*) AS queries
FROM augesc.queries LATERAL VIEW OUTER explode(judged_by) AS judge
GROUP BY source, coalesce(judge, 'none') ORDER BY source, judge
