-- The released cosines against those of the configured encoder: correlation and largest difference (EDOS 3.3).
--
-- The paper's encoder, roberta-base-nli-stsb-mean-tokens, should come within 0.01 of the released cosines. Another
-- encoder has another scale: only the correlation says how alike the two orders are.
SELECT model, origin, count(*) AS pairs, round(corr(released_score, our_score), 4) AS correlation,
       round(avg(our_score - released_score), 4) AS mean_difference,
       round(max(abs(our_score - released_score)), 4) AS largest_difference,
       round(100 * avg(CAST(abs(our_score - released_score) <= 0.01D AS int)), 2) AS percent_within_a_hundredth,
       round(percentile(our_score, 0.5D), 4) AS median_score, round(percentile(released_score, 0.5D), 4) AS released_median
FROM (
  SELECT model, origin, released_score, our_score FROM analysis.edos_released_pairs
  UNION ALL SELECT model, 'all', released_score, our_score FROM analysis.edos_released_pairs
)
GROUP BY model, origin ORDER BY model, origin
