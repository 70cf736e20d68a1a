-- Emo Pillars 7: what cleaning and rewriting changed.
--
-- measure: what value and paper are: similarities by cosine, lengths in tokens, ratios
-- value: of our texts; null: there are none
-- paper: of the paper's texts; null: it does not say
WITH every AS (
  SELECT stack(13,
    0, 'context and cleaned context, similarity, mean', avg(context_similarity), 0.92D,
    1, 'context and cleaned context, similarity, deviation', stddev(context_similarity), 0.08D,
    2, 'context and cleaned context, similarity, 99 % do not exceed',
    get(sort_array(collect_list(context_similarity)), CAST(ceil(0.99D * count(context_similarity)) AS int) - 1), 1D,
    3, 'utterance and rewritten one, similarity, mean', avg(utterance_similarity), 0.78D,
    4, 'utterance and rewritten one, similarity, deviation', stddev(utterance_similarity), 0.15D,
    5, 'utterance and rewritten one, similarity, 99 % do not exceed',
    get(sort_array(collect_list(utterance_similarity)), CAST(ceil(0.99D * count(utterance_similarity)) AS int) - 1), 1D,
    6, 'tokens of an utterance', avg(utterance_tokens), 20D,
    7, 'tokens of a rewritten utterance', avg(rewritten_tokens), 16D,
    8, 'partial Levenshtein ratio, percent, mean', avg(partial_ratio), 66D,
    9, 'partial Levenshtein ratio, percent, deviation', stddev(partial_ratio), 16D,
    10, 'tokens of a context', avg(context_tokens), 145D,
    11, 'tokens of a context, deviation', stddev(context_tokens), 64D,
    12, 'tokens of a cleaned context', avg(clean_context_tokens), CAST(NULL AS double)
  ) AS (place, measure, value, paper) FROM emo_pillars.changes
  UNION ALL SELECT 100, 'tokens of a plot', avg(tokens), 823D FROM emo_pillars.plots
  UNION ALL SELECT 101, 'tokens of a plot, deviation', stddev(tokens), 582D FROM emo_pillars.plots
)
SELECT measure, round(value, 4) AS value, paper FROM every ORDER BY place
