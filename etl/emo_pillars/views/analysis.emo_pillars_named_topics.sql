-- Emo Pillars Table 13: what a language model calls the large topics, and their categories.
--
-- emotion: emotion that the topic's utterances were made for
-- topic: number of the topic within the emotion, the largest is 1
-- utterances: utterances of the topic
-- name: what a language model calls the topic
-- category: broad category that a language model puts it in; null: none
-- keywords: words that are typical of the topic, joined by commas
SELECT topics.emotion, topics.topic, utterances, name, category, array_join(keywords, ', ') AS keywords
FROM emo_pillars.topics AS topics
JOIN emo_pillars.topic_names AS names ON names.emotion = topics.emotion AND names.topic = topics.topic
LEFT JOIN emo_pillars.topic_categories AS parts ON parts.emotion = topics.emotion AND parts.topic = topics.topic
ORDER BY emotion, topic
