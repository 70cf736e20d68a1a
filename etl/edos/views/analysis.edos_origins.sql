-- Labelled turns by origin, the paper's counts (EDOS 3.2, 3.3) beside ours.
--
-- place: order of the rows
-- origin: how the label was found: crowd, similar, self or similar_self; total
-- rows: labelled turns of the origin
-- train: of these, turns to train on
-- validation: of these, turns to choose the epoch by
-- test: of these, turns to test on
-- labels: different labels among them; null in the total
-- least_score: lowest cosine or confidence among them; null for crowd, for none, and in the total
-- paper: labelled dialogues of the origin in the paper
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
