-- Emo Pillars Table 10: the same by class, with the gains over the plain encoder and the GoEmotions paper.
--
-- The paper has GoEmotions alone. The class std is the standard deviation over the classes, the paper's last row.
-- Floors, as expectations: always_f1 where every row has the class, random_f1 where rows
-- have it at its own rate.
WITH ours AS (
  SELECT task, scored, class, model, tuned, variant, count(*) AS trials, round(avg(precision), 4) AS precision,
         round(avg(recall), 4) AS recall, round(avg(f1), 4) AS f1, sum(support) AS support,
         round(avg(try_divide(2 * support, test_rows + support)), 4) AS always_f1,
         round(avg(try_divide(support, test_rows)), 4) AS random_f1
  FROM analysis.emo_pillars_transfer_results WHERE class NOT IN ('macro', 'micro')
  GROUP BY task, scored, class, model, tuned, variant
), plain AS (
  SELECT task, scored, class, f1 AS plain_f1 FROM ours WHERE model = 'emo_pillars_encoder' AND tuned
), classes AS (
SELECT ours.task, ours.scored, ours.class, ours.model, ours.tuned, ours.variant, trials, ours.precision, ours.recall,
       ours.f1, support,
       CASE WHEN ours.tuned AND ours.model <> 'emo_pillars_encoder' THEN round(ours.f1 - plain_f1, 4) END
         AS gain_over_plain,
       round(ours.f1 - goemotions_f1, 4) AS gain_over_goemotions, paper.precision AS paper_precision,
       paper.recall AS paper_recall, paper.f1 AS paper_f1, goemotions_f1,
       round(paper.f1 - goemotions_f1, 2) AS paper_gain, always_f1, random_f1
FROM ours
LEFT JOIN plain ON plain.task = ours.task AND plain.scored = ours.scored AND plain.class = ours.class
LEFT JOIN analysis.emo_pillars_paper_table_10 AS paper ON ours.task = 'goemotions' AND paper.label = ours.class
)
SELECT * FROM classes
UNION ALL
SELECT task, scored, 'std', model, tuned, variant, max(trials), round(stddev(precision), 4), round(stddev(recall), 4),
       round(stddev(f1), 4), NULL, round(stddev(gain_over_plain), 4), round(stddev(gain_over_goemotions), 4),
       round(stddev(paper_precision), 2), round(stddev(paper_recall), 2), round(stddev(paper_f1), 2),
       round(stddev(goemotions_f1), 2), round(stddev(paper_gain), 2), NULL, NULL
FROM classes GROUP BY task, scored, model, tuned, variant HAVING count(*) > 1
ORDER BY task, scored, model, tuned, variant, class = 'std', class
