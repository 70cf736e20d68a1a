-- AugESC Table 3: mean ratings by set and aspect; the paper's beside ours.
--
-- Scores are 0 to 3: random_mean is that of raters who choose at random. People's sessions are the ceiling.
SELECT paper.method, paper.source, paper.aspect, ours.sessions, ours.ratings, round(ours.mean, 2) AS mean,
       paper.mean AS paper_mean, is_best, round(p_best, 4) AS p_best, below_best, below_tuned, paper.name AS paper_name, 1.5D AS random_mean
FROM analysis.augesc_paper_table_3 AS paper
LEFT JOIN augesc.rating_scores AS ours
  ON ours.method = paper.method AND ours.source = paper.source AND ours.aspect = paper.aspect
ORDER BY set_place, aspect_place
