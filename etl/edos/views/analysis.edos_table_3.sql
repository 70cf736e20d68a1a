-- EDOS Table 3: the size of the data set, the paper's beside ours.
--
-- place: order of the rows
-- criterion: what value and paper are
-- value: of our finished dialogues; averages are null without dialogues
-- paper: as the paper prints it
--
-- The paper's averages follow from its totals: 2.8294, 39.4698 and 13.9498.
WITH sizes AS (
  SELECT size(turns) AS turns,
         aggregate(turns, 0L, (total, turn) -> total + size(filter(split(turn.text, ' '), token -> token != '')))
           AS tokens
  FROM edos.dialogues
), totals AS (
  SELECT count(*) AS dialogues, coalesce(sum(turns), 0) AS turns, coalesce(sum(tokens), 0) AS tokens FROM sizes
), ours AS (
  SELECT stack(6,
    1, CAST(dialogues AS double), 2, CAST(turns AS double), 3, CAST(tokens AS double),
    4, round(try_divide(turns, dialogues), 2), 5, round(try_divide(tokens, dialogues), 2),
    6, round(try_divide(tokens, turns), 2)) AS (place, value)
  FROM totals
)
SELECT paper.place, paper.criterion, ours.value, paper.value AS paper
FROM analysis.edos_paper_table_3 AS paper JOIN ours ON ours.place = paper.place
ORDER BY paper.place
