-- AugESC Figure 3: a query's length and that of the utterances after it, in 2,000 unfiltered texts each.
--
-- text_id: id of the text in augesc.measured_texts
-- method: what wrote the text: augmenter, untuned or role_models
-- source: where the query comes from: ed or reddit
-- query_tokens: NLTK tokens of the first utterance, the query
-- mean_utterance_tokens: mean NLTK tokens of the utterances after it
-- mean_of_all: mean of mean_utterance_tokens over the rows of method and source
WITH answered AS (
  SELECT text_id, method, source, turns[0].tokens AS query_tokens,
         aggregate(slice(turns, 2, size(turns)), 0, (total, turn) -> total + turn.tokens) / (size(turns) - 1)
           AS mean_utterance_tokens,
         row_number() OVER (PARTITION BY method, source ORDER BY sha2(text_id, 256)) AS nth
  FROM augesc.measured_texts WHERE method != 'people' AND size(turns) > 1
)
SELECT text_id, method, source, query_tokens, round(mean_utterance_tokens, 2) AS mean_utterance_tokens,
       round(avg(mean_utterance_tokens) OVER (PARTITION BY method, source), 2) AS mean_of_all
FROM answered WHERE nth <= 2000 ORDER BY method, source, query_tokens, text_id
