-- Emotions that raters found unfit, or missed, in the labels (Emo Pillars I).
SELECT question, value, count(*) AS answers FROM emo_pillars.evaluation_answers
WHERE question IN ('unfit', 'other_emotion', 'other_words') GROUP BY question, value
ORDER BY question, answers DESC, value
