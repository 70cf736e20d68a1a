-- EDOS Table 4: Fleiss' kappa over the turns with exactly three votes.
--
-- items: turns with exactly three votes
-- observed: agreement of pairs of workers, 0 to 1; null without turns
-- expected: agreement that chance would give, 0 to 1; null without turns
-- kappa: Fleiss' kappa, 1 at most; null without turns, and where expected is 1
--
-- The categories are the normalised answers, those outside the taxonomy each a category of its own.
-- With n workers, N turns and n_ij votes of turn i for category j: P_i = (sum_j n_ij^2 - n) / (n (n - 1)),
-- observed = mean of P_i, p_j = sum_i n_ij / (N n), expected = sum_j p_j^2,
-- kappa = (observed - expected) / (1 - expected).
WITH pairs AS (
  SELECT dialogue_id, turn, vote, count(*) AS n
  FROM (SELECT dialogue_id, turn, explode(votes) AS vote FROM edos.crowd_labels WHERE size(votes) = 3)
  GROUP BY dialogue_id, turn, vote
), agreement AS (
  SELECT count(DISTINCT dialogue_id, turn) AS items, sum(n * n) AS squares FROM pairs
), chance AS (
  SELECT sum(CAST(n * n AS double)) AS squares_of_sums, sum(n) AS total
  FROM (SELECT vote, sum(n) AS n FROM pairs GROUP BY vote)
), both AS (
  SELECT items, try_divide(squares - items * 3, items * 3 * (3 - 1)) AS observed,
         try_divide(squares_of_sums, CAST(total AS double) * total) AS expected
  FROM agreement CROSS JOIN chance
)
SELECT items, observed, expected, try_divide(observed - expected, 1D - expected) AS kappa FROM both
