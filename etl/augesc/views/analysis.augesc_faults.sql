-- AugESC 6.4: inconsistency, topic shifts and toxicity by what wrote the texts; measures are ours.
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
