-- A language model as annotator: how well each rater agrees with the crowd, the best first, with the share read.
--
-- `beside_people` is the share of single votes that a rater equals, divided by the share that a worker equals.
WITH people AS (
  SELECT max(vote_agreement) AS vote_agreement FROM edos.llm_annotator_agreement WHERE rater = 'crowd worker'
)
SELECT rater, way, model, answers, unread, accuracy, accuracy_low, accuracy_high, macro_f1, macro_f1_low, macro_f1_high,
       kappa, one.vote_agreement AS vote_agreement,
       round(try_divide(one.vote_agreement, people.vote_agreement), 4) AS beside_people
FROM edos.llm_annotator_agreement AS one CROSS JOIN people
ORDER BY accuracy DESC, rater, way, model
