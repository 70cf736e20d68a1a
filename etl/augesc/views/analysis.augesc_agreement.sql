-- AugESC Table 3: the share of conversations whose raters are at most one step apart.
--
-- aspect: what was rated, such as empathy
-- samples: conversations with two or more raters; null: none
-- raters_a_sample: raters of such a conversation, mean
-- share_within_1: share of these conversations whose highest and lowest score differ by at most 1
-- paper_share: the paper's share of conversations within 1
-- random_share: share_within_1 that raters reach who choose among the four options at random
WITH samples AS (
  SELECT aspect, text_id, count(*) AS raters, max(score) - min(score) AS apart
  FROM augesc.ratings GROUP BY aspect, method, source, text_id
), ours AS (
  SELECT aspect, count(*) AS samples, round(avg(raters), 2) AS raters_a_sample,
         round(avg(CAST(apart <= 1 AS int)), 4) AS share_within_1,
         round(avg((4 + 3 * (pow(2, raters) - 2)) / pow(4, raters)), 4) AS random_share
  FROM samples WHERE raters > 1 GROUP BY aspect
)
SELECT paper.aspect, samples, raters_a_sample, share_within_1, paper.share AS paper_share, random_share
FROM analysis.augesc_paper_agreement AS paper LEFT JOIN ours ON ours.aspect = paper.aspect ORDER BY place
