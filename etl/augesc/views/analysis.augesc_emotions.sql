-- Queries and conversations by the query's emotion; people's sessions by emotion and problem.
--
-- data_set: ed, reddit: queries; esconv, failed_esconv: sessions of people
-- kind: what name is: emotion, or the problem of a session
-- name: emotion of the query, emotion or problem of the session; (none): a query without one
-- queries: queries of that emotion; null for sessions
-- conversations: conversations kept from these queries; sessions of that emotion or problem
WITH kept AS (
  SELECT query_id, count(*) AS conversations FROM augesc.conversations GROUP BY query_id
)
SELECT source AS data_set, 'emotion' AS kind, coalesce(emotion, '(none)') AS name, count(*) AS queries,
       coalesce(sum(kept.conversations), 0) AS conversations
FROM augesc.queries AS asked LEFT JOIN kept ON kept.query_id = asked.query_id GROUP BY 1, 2, 3
UNION ALL
SELECT CASE WHEN contrast THEN 'failed_esconv' ELSE 'esconv' END, kind, name, CAST(NULL AS bigint), count(*)
FROM augesc.sessions LATERAL VIEW stack(2, 'emotion', emotion, 'problem', problem) AS kind, name
WHERE name IS NOT NULL GROUP BY 1, 2, 3
ORDER BY data_set, kind, conversations DESC, name
