-- Emo Pillars H: topics of one emotion's utterances, with keywords.
--
-- emotion: emotion that the topic's utterances were made for
-- topic: number of the topic within the emotion, the largest is 1
-- utterances: utterances of the topic
-- share: share of all utterances of the emotion
-- keywords: words that are typical of the topic, joined by commas
-- example: the first utterance of the topic
SELECT emotion, topic, utterances, round(utterances / sum(utterances) OVER (PARTITION BY emotion), 4) AS share,
       array_join(keywords, ', ') AS keywords, get(examples, 0) AS example
FROM emo_pillars.topics ORDER BY emotion, topic
