-- AugESC 6.4: inconsistency, topic shifts and toxicity by what wrote the texts; measures are ours.
--
-- method: what wrote the texts: augmenter, untuned, role_models or people
-- source: ed, reddit: where the queries come from; esconv, failed_esconv: sessions of people
-- texts: texts that were measured, a sample of method and source
-- percent_with_mixed_up_roles: percent of texts with an utterance as the other role speaks
-- statement_pairs: pairs of similar statements of one speaker that the classifier scored
-- percent_of_pairs_contradictory: percent of these pairs that contradict each other; null: no pairs
-- percent_with_topic_shift: percent of the scored texts with a longer utterance far from the one before and from the mean of all before; null: none
-- percent_of_utterances_shifted: percent of longer utterances that are far from all before; null: none
-- percent_shifted_by_supporter: percent of longer utterances of both roles that are such, by the supporter
-- percent_seen_in_another_conversation: percent that would be such if they stood in another conversation
-- mean_similarity: mean cosine of longer utterances with those before them
-- mean_other_similarity: mean cosine of the same utterances with those of another conversation
-- percent_with_toxicity: percent of the scored texts with a toxic utterance; null: none is scored
-- toxic_by: what decided on toxicity: identity of the model; none: the list of words
SELECT method, source, count(*) AS texts,
       round(100 * avg(CAST(confused > 0 AS int)), 2) AS percent_with_mixed_up_roles,
       sum(statement_pairs) AS statement_pairs,
       round(100 * try_divide(sum(contradictory_pairs), sum(statement_pairs)), 2) AS percent_of_pairs_contradictory,
       round(100 * avg(CAST(shifted > 0 AS int)), 2) AS percent_with_topic_shift,
       round(100 * try_divide(sum(shifted), sum(topical)), 2) AS percent_of_utterances_shifted,
       round(100 * try_divide(sum(shifted_supporter), sum(topical)), 2) AS percent_shifted_by_supporter,
       round(100 * try_divide(sum(other_shifted), sum(topical)), 2) AS percent_seen_in_another_conversation,
       round(try_divide(sum(mean_similarity * topical), sum(topical)), 3) AS mean_similarity,
       round(try_divide(sum(mean_other_similarity * topical), sum(topical)), 3) AS mean_other_similarity,
       round(100 * avg(CAST(toxic > 0 AS int)), 2) AS percent_with_toxicity, max(toxic_by) AS toxic_by
FROM augesc.faults GROUP BY method, source ORDER BY method, source
