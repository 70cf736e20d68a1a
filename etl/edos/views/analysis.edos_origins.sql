-- Labelled turns by origin, the paper's counts (EDOS 3.2, 3.3) beside ours.
WITH ours AS (
  SELECT origin, count(*) AS rows, count_if(split = 'train') AS train, count_if(split = 'validation') AS validation,
         count_if(split = 'test') AS test, count(DISTINCT label) AS labels, round(min(score), 4) AS least_score
  FROM edos.training_dialogues GROUP BY origin
), both AS (
  SELECT paper.place, paper.origin, coalesce(rows, 0) AS rows, coalesce(train, 0) AS train,
         coalesce(validation, 0) AS validation, coalesce(test, 0) AS test, coalesce(labels, 0) AS labels,
         least_score, paper.dialogues AS paper
  FROM analysis.edos_paper_origins AS paper LEFT JOIN ours ON ours.origin = paper.origin
)
SELECT * FROM both
UNION ALL
SELECT 5, 'total', sum(rows), sum(train), sum(validation), sum(test), NULL, NULL, sum(paper) FROM both
ORDER BY place
