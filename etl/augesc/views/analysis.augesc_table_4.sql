-- AugESC Table 4: wins, losses and ties of the bot tuned on AugESC; the paper's beside ours.
--
-- aspect: in what the bots were compared, such as comforting
-- pairs: pairs of conversations with the two bots that were compared; null: none
-- win_percent: percent of the pairs in which the bot tuned on AugESC won
-- lose_percent: percent of the pairs in which it lost
-- tie_percent: percent of the pairs without a winner
-- p: two-sided p of the sign test of wins and losses, ties left out; null: no win or loss
-- significance: bound that p is below: < 0.01 or < 0.05; none: neither, or no p
-- paper_win_percent: percent of the paper's pairs that it won
-- paper_lose_percent: percent of the paper's pairs that it lost
-- paper_significance: bound that the paper's p is below
SELECT paper.aspect, pairs, round(try_divide(100 * wins, pairs), 1) AS win_percent, round(try_divide(100 * losses, pairs), 1) AS lose_percent,
       round(try_divide(100 * ties, pairs), 1) AS tie_percent, round(p, 4) AS p,
       CASE WHEN p < 0.01 THEN '< 0.01' WHEN p < 0.05 THEN '< 0.05' ELSE 'none' END AS significance,
       paper.win_percent AS paper_win_percent, paper.lose_percent AS paper_lose_percent,
       CASE paper.aspect WHEN 'overall' THEN '< 0.05' ELSE '< 0.01' END AS paper_significance
FROM analysis.augesc_paper_table_4 AS paper
LEFT JOIN augesc.comparison_scores AS ours ON ours.aspect = paper.aspect ORDER BY paper.place
