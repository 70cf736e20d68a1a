-- AugESC Table 4: wins, losses and ties of the bot tuned on AugESC; the paper's beside ours.
--
-- In percent of the pairs, with the sign test's p.
SELECT paper.aspect, pairs, round(100 * wins / pairs, 1) AS win_percent, round(100 * losses / pairs, 1) AS lose_percent,
       round(100 * ties / pairs, 1) AS tie_percent, round(p, 4) AS p,
       CASE WHEN p < 0.01 THEN '< 0.01' WHEN p < 0.05 THEN '< 0.05' ELSE 'none' END AS significance,
       paper.win_percent AS paper_win_percent, paper.lose_percent AS paper_lose_percent,
       CASE paper.aspect WHEN 'overall' THEN '< 0.05' ELSE '< 0.01' END AS paper_significance
FROM analysis.augesc_paper_table_4 AS paper
LEFT JOIN augesc.comparison_scores AS ours ON ours.aspect = paper.aspect ORDER BY paper.place
