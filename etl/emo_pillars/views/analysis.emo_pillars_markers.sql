-- Emo Pillars Table 9: adverbs that rewriting takes out, with their emotions.
--
-- word: adverb that rewriting takes out
-- occurrences: times that it stands in original utterances
-- left_in: times that it stands in rewritten utterances
-- removed_share: share of the occurrences that rewriting takes out
-- emotions: emotions that it marks, each with its share of the labels beside it
SELECT word, occurrences, left_in, removed_share,
       array_join(transform(sort_array(collect_list(struct(-share AS order, label, share))),
                            one -> concat(one.label, ' (', format_number(one.share, 2), ')')), ', ') AS emotions
FROM emo_pillars.markers GROUP BY word, occurrences, left_in, removed_share
ORDER BY removed_share DESC, occurrences DESC, word
