-- EDOS Table 7: response generators by perplexity, distinct-1, -2 and similarity, the paper's, floors and ceiling beside.
--
-- generator: pretrained, edos, empathetic or causal; constant, random, echo, retrieval or human
-- source: test set: os, edos or empathetic
-- setting: held-out: of the generator's last training; zero-shot; floor; ceiling
-- examples: replies of the test set that were asked for; null: not evaluated
-- perplexity: perplexity of a token of people's replies; null for floors and the ceiling
-- word_perplexity: perplexity of a word of people's replies, parted by blanks
-- distinct_1: distinct words over all words of distinct_replies replies
-- distinct_2: distinct pairs of neighbouring words over all words of the same replies
-- similarity: mean cosine of written and people's replies
-- likeliest: no generator has a lower perplexity on the test set; null: no perplexity
-- paper_perplexity: perplexity that the paper prints; null: not in its table
-- paper_distinct_1: distinct_1 that the paper prints; null: not in its table
-- paper_distinct_2: distinct_2 that the paper prints; null: not in its table
-- paper_similarity: similarity that the paper prints; null: not in its table
-- above_echo: similarity above that of repeating the last turn
-- distinct_replies: replies that distinct_1 and distinct_2 are of, as many in all our cells
-- mean_words: words and marks of a reply, mean
--
-- Floors of each set: a constant reply, a random training reply, the last turn again, retrieval by TF-IDF. The ceiling is
-- people's reply, whose similarity is 1 by definition. distinct-n is of equally many replies, because it falls with their
-- number; the paper's number is not known.
WITH printed AS (
  SELECT place, generator, source, perplexity AS paper_perplexity, distinct_1 AS paper_distinct_1,
         distinct_2 AS paper_distinct_2, similarity AS paper_similarity
  FROM analysis.edos_paper_table_7
), sources AS (SELECT source, min(place) AS place FROM printed GROUP BY source
), cells AS (
  SELECT place, generator, source,
         IF(generator = IF(source = 'os', 'pretrained', source), 'held-out', 'zero-shot') AS setting,
         paper_perplexity, paper_distinct_1, paper_distinct_2, paper_similarity
  FROM printed
  UNION ALL
  SELECT sources.place + plain.place, plain.generator, source, plain.setting, NULL, NULL, NULL, NULL
  FROM sources CROSS JOIN VALUES (10, 'constant', 'floor'), (20, 'random', 'floor'), (30, 'echo', 'floor'),
       (40, 'retrieval', 'floor'), (50, 'human', 'ceiling')
       AS plain(place, generator, setting)
  UNION ALL
  SELECT 9 + 0.1 * sources.place, 'causal', evaluated.source, IF(held_out, 'held-out', 'zero-shot'), NULL, NULL, NULL, NULL
  FROM replies.evaluation AS evaluated JOIN sources ON sources.source = evaluated.source
  WHERE generator = 'causal'
), echoes AS (
  SELECT source, similarity FROM replies.evaluation WHERE generator = 'echo'
)
SELECT cells.generator, cells.source, setting, ours.examples, ours.perplexity, ours.word_perplexity,
       round(ours.distinct_1, 3) AS distinct_1, round(ours.distinct_2, 3) AS distinct_2,
       round(ours.similarity, 3) AS similarity,
       ours.perplexity = min(ours.perplexity) OVER (PARTITION BY cells.source) AS likeliest,
       paper_perplexity, paper_distinct_1, paper_distinct_2, paper_similarity,
       round(ours.similarity - echoes.similarity, 3) AS above_echo, ours.distinct_replies,
       round(ours.mean_words, 1) AS mean_words
FROM cells
LEFT JOIN replies.evaluation AS ours ON ours.generator = cells.generator AND ours.source = cells.source
LEFT JOIN echoes ON echoes.source = cells.source
ORDER BY cells.place
