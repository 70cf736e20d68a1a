-- Emo Pillars 7: how many topics there are, and large ones.
--
-- emotion: emotion that the utterances were made for
-- utterances: utterances in all topics of the emotion
-- topics: topics of the emotion, single utterances among them
-- topics_of_two_or_more: topics of at least two utterances
-- large_topics: topics of at least 20 utterances
-- paper_topics: topics of 3,000 utterances of joy in the paper
-- paper_large_topics: topics of these with a large number of utterances
SELECT emotion, sum(utterances) AS utterances, count(*) AS topics, count_if(utterances > 1) AS topics_of_two_or_more,
       count_if(utterances >= 20) AS large_topics, 300 AS paper_topics, 20 AS paper_large_topics
FROM emo_pillars.topics GROUP BY emotion ORDER BY emotion
