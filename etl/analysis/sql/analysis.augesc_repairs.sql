-- Texts of the tuned model that were continued from their last good turn, and the share that is kept before and after.
--
-- By the only requirement that a text violated; all: of all texts. Ours: the paper throws these texts away (AugESC 4.3).
WITH tried AS (
  SELECT text_id, count(*) AS attempts FROM augesc.repairs GROUP BY text_id
), texts AS (
  SELECT v.source, CASE WHEN size(v.violated) = 1 THEN v.violated[0] WHEN v.kept THEN 'none' ELSE 'several' END AS violated,
         v.kept, t.attempts, c.repaired
  FROM augesc.violations AS v LEFT JOIN tried AS t ON t.text_id = v.text_id
  LEFT JOIN augesc.conversations AS c ON c.conversation_id = v.text_id
  WHERE v.method = 'augmenter'
), counted AS (
  SELECT source, coalesce(violated, 'all') AS violated, count(*) AS texts, count(attempts) AS texts_continued,
         coalesce(sum(attempts), 0) AS attempts, count(repaired) AS repaired,
         sum(CASE WHEN kept THEN 1 ELSE 0 END) AS kept
  FROM texts GROUP BY GROUPING SETS ((source, violated), (source))
)
SELECT source, violated, texts, texts_continued, attempts, repaired, round(100 * kept / texts, 1) AS percent_kept,
       round(100 * (kept + repaired) / texts, 1) AS percent_kept_with_repairs
FROM counted ORDER BY source, violated
