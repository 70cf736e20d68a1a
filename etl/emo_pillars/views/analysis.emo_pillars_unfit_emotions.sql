-- Emotions that raters found unfit, or missed, in the labels (Emo Pillars I).
--
-- question: unfit: emotions that do not fit; other_emotion, other_words: emotions that were missed
-- value: the emotion that a rater named, or the rater's own words
-- answers: answers that named it
SELECT question, value, count(*) AS answers FROM emo_pillars.evaluation_answers
WHERE question IN ('unfit', 'other_emotion', 'other_words') GROUP BY question, value
ORDER BY question, answers DESC, value
