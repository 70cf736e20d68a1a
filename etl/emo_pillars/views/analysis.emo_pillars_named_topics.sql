-- Emo Pillars Table 13: what a language model calls the large topics, and their categories.
SELECT topics.emotion, topics.topic, utterances, name, category, array_join(keywords, ', ') AS keywords
FROM emo_pillars.topics AS topics
JOIN emo_pillars.topic_names AS names ON names.emotion = topics.emotion AND names.topic = topics.topic
LEFT JOIN emo_pillars.topic_categories AS parts ON parts.emotion = topics.emotion AND parts.topic = topics.topic
ORDER BY emotion, topic
