-- AugESC Table 3: mean ratings by set and aspect; the paper's beside ours.
--
-- method: what wrote the conversations: augmenter, untuned, role_models or people
-- source: where the queries come from: ed or reddit; esconv: sessions of people
-- aspect: what was rated, such as empathy
-- sessions: conversations of the set that were rated; null: none
-- ratings: ratings of these conversations by single raters
-- mean: mean of these ratings, 0 to 3; of ethical_risk 0 is best
-- paper_mean: the paper's mean rating
-- is_best: no set has a better mean on the aspect
-- p_best: p of the t-test against the best set; null: the best set itself, or ethical_risk
-- below_best: the mean is significantly lower than the best set's; null as p_best
-- below_tuned: the mean is significantly lower than that of augmenter on ed; null: not tested
-- paper_below_tuned: the paper marks its mean as significantly lower than that of AugESC-ED; null: not tested
-- paper_name: name of the set in the paper
-- random_mean: mean rating by raters who choose at random
--
-- People's sessions are the ceiling.
SELECT paper.method, paper.source, paper.aspect, ours.sessions, ours.ratings, round(ours.mean, 2) AS mean,
       paper.mean AS paper_mean, is_best, round(p_best, 4) AS p_best, below_best, ours.below_tuned,
       paper.below_tuned AS paper_below_tuned, paper.name AS paper_name, 1.5D AS random_mean
FROM analysis.augesc_paper_table_3 AS paper
LEFT JOIN augesc.rating_scores AS ours
  ON ours.method = paper.method AND ours.source = paper.source AND ours.aspect = paper.aspect
ORDER BY set_place, aspect_place
