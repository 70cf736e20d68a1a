-- Support strategies of the supporter's turns, of people and of the conversations that were kept (ours).
--
-- AugESC's texts name none, unless augesc.generation.strategies is true. share is of the turns with a strategy.
WITH turns AS (
  SELECT 'esconv' AS data_set, turn.role AS role, element_at(strategies, place + 1) AS strategy
  FROM (SELECT strategies, posexplode(turns) AS (place, turn) FROM augesc.sessions WHERE NOT contrast) AS said
  UNION ALL /* where it is there */
  SELECT 'augesc' AS data_set, turn.role AS role, element_at(strategies, place + 1) AS strategy
  FROM (SELECT strategies, posexplode(turns) AS (place, turn) FROM augesc.conversations) AS said
)
SELECT data_set, coalesce(strategy, 'none named') AS strategy, count(*) AS turns,
       round(try_divide(count(*), sum(count(*)) OVER (PARTITION BY data_set)), 4) AS share_of_all,
       round(CASE WHEN strategy IS NOT NULL THEN
         try_divide(count(*), sum(count(strategy)) OVER (PARTITION BY data_set)) END, 4) AS share
FROM turns WHERE role = 'supporter' GROUP BY data_set, strategy ORDER BY data_set DESC, turns DESC, strategy
