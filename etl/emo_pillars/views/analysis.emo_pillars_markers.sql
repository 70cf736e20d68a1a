-- Emo Pillars Table 9: adverbs that rewriting takes out, with their emotions.
SELECT word, occurrences, left_in, removed_share,
       array_join(transform(sort_array(collect_list(struct(-share AS order, label, share))),
                            one -> concat(one.label, ' (', one.share, ')')), ', ') AS emotions
FROM emo_pillars.markers GROUP BY word, occurrences, left_in, removed_share
ORDER BY removed_share DESC, occurrences DESC, word
