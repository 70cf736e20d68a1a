-- EDOS Table 4: the crowd's agreement and quiz, beside what the paper prints and what its released votes give.
--
-- place: order of the rows; from 7 on the paper has no such row
-- criterion: what the numbers are
-- value: of our crowd; null: nothing to count
-- paper: as the paper prints it; null: it does not
-- paper_recount: counted in the votes of 10,245 dialogues that the authors released, as value is counted; null: not in them
--
-- The paper's 8,913 majorities are those of answers as given; 8,919 of its released votes agree in the taxonomy when
-- case and the mark "(Other)" are ignored, which is how labels are found here. Its 425 "dialogues" with a specified
-- label are the released votes marked "(Other)", which are of 403 dialogues. The quiz counts HITs that had one.
WITH items AS (
  SELECT count(*) AS items, count(label) AS agreed FROM edos.crowd_labels
), as_given AS (
  SELECT count(DISTINCT dialogue_id, turn) AS agreed
  FROM (
    SELECT dialogue_id, turn, trim(answer) AS answer, count(*) AS votes,
           sum(count(*)) OVER (PARTITION BY dialogue_id, turn) AS total
    FROM edos.annotations GROUP BY dialogue_id, turn, trim(answer)
  ) WHERE total >= 2 AND votes * 2 > total
), quiz AS (
  SELECT round(100 * try_divide(count_if(passed), count(passed)), 2) AS passed
  FROM edos.assignments WHERE purpose = 'crowd'
), named AS (
  SELECT count(*) AS votes, count(DISTINCT dialogue_id, turn) AS items,
         count_if(label IS NULL) AS outside FROM edos.annotations WHERE specified
), ours AS (
  SELECT stack(9,
    1, 'Total no. of dialogues', CAST(items.items AS double), 10250D, 10245D,
    2, '# dialogues labeled with majority vote', CAST(items.agreed AS double), 8913D, 8919D,
    3, '% dialogues labeled with majority vote', round(100 * try_divide(items.agreed, items.items), 2), 86.96D, 87.06D,
    4, 'Inter-annotator agreement (Fleiss\' kappa)', round(fleiss.kappa, 4), 0.46D, CAST(NULL AS double),
    5, '% of times workers got 3/5 quiz questions correct', quiz.passed, 77.75D, CAST(NULL AS double),
    6, '# dialogues in which the workers manually specified the label', CAST(named.items AS double), 425D, 403D,
    7, '# votes in which the workers manually specified the label', CAST(named.votes AS double), CAST(NULL AS double), 425D,
    8, '# dialogues labeled with majority vote, answers as given', CAST(as_given.agreed AS double), CAST(NULL AS double), 8913D,
    9, '# votes with a specified label outside the taxonomy', CAST(named.outside AS double), CAST(NULL AS double), CAST(NULL AS double)
  ) AS (place, criterion, value, paper, paper_recount)
  FROM items CROSS JOIN as_given CROSS JOIN analysis.edos_fleiss_kappa AS fleiss CROSS JOIN quiz CROSS JOIN named
)
SELECT place, criterion, value, paper, paper_recount FROM ours ORDER BY place
