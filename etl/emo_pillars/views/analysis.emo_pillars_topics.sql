-- Emo Pillars H: topics of one emotion's utterances, with keywords.
SELECT emotion, topic, utterances, round(utterances / sum(utterances) OVER (PARTITION BY emotion), 4) AS share,
       array_join(keywords, ', ') AS keywords, examples[0] AS example
FROM emo_pillars.topics ORDER BY emotion, topic
