-- EDOS Table 4: the crowd's agreement and quiz, the paper's beside ours.
--
-- The quiz counts HITs that had one.
WITH items AS (
  SELECT count(*) AS items, count(label) AS agreed FROM edos.crowd_labels
), quiz AS (
  SELECT round(100 * try_divide(count_if(passed), count(passed)), 2) AS passed
  FROM edos.assignments WHERE purpose = 'crowd'
), named AS (
  SELECT count(DISTINCT dialogue_id, turn) AS items FROM edos.annotations WHERE specified
), ours AS (
  SELECT stack(6,
    1, 'Total no. of dialogues', CAST(items.items AS double), 10250D,
    2, '# dialogues labeled with majority vote', CAST(items.agreed AS double), 8913D,
    3, '% dialogues labeled with majority vote', round(100 * try_divide(items.agreed, items.items), 2), 86.96D,
    4, 'Inter-annotator agreement (Fleiss\' kappa)', round(fleiss.kappa, 4), 0.46D,
    5, '% of times workers got 3/5 quiz questions correct', quiz.passed, 77.75D,
    6, '# dialogues in which the workers manually specified the label', CAST(named.items AS double), 425D
  ) AS (place, criterion, value, paper)
  FROM items CROSS JOIN analysis.edos_fleiss_kappa AS fleiss CROSS JOIN quiz CROSS JOIN named
)
SELECT place, criterion, value, paper FROM ours ORDER BY place
