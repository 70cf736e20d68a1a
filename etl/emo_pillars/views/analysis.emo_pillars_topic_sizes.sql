-- Emo Pillars 7: how many topics there are, and large ones.
SELECT emotion, sum(utterances) AS utterances, count(*) AS topics, count_if(utterances > 1) AS topics_of_two_or_more,
       count_if(utterances >= 20) AS large_topics, 300 AS paper_topics, 20 AS paper_large_topics
FROM emo_pillars.topics GROUP BY emotion ORDER BY emotion
