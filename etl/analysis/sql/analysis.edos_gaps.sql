-- EDOS Figure 5: silences between neighbouring sentences by length, with running shares.
WITH total AS (
  SELECT sum(pairs) AS pairs FROM subtitles.gaps WHERE kind = 'gap'
)
SELECT kind, from_ms / 1000D AS from_seconds, to_ms / 1000D AS to_seconds, gaps.pairs,
       CASE WHEN kind = 'gap' THEN round(gaps.pairs / total.pairs, 6) END AS share_of_gaps,
       CASE WHEN kind = 'gap' THEN round(sum(gaps.pairs) OVER (PARTITION BY kind ORDER BY from_ms) / total.pairs, 6) END
         AS share_up_to_here
FROM subtitles.gaps AS gaps CROSS JOIN total ORDER BY kind, from_ms
