-- How reliable each worker's votes are: the mean probability of the labels that the worker chose.
--
-- The probabilities are those of edos.crowd_labels. With edos.crowd_aggregation=dawid_skene this is the expected share
-- of right votes; with majority a vote counts in its own share, so that a third is the least of three votes.
-- The released votes name no workers: 1, 2 and 3 are columns of their file.
WITH votes AS (
  SELECT annotations.source, annotations.worker_id, annotations.label, labels.label AS agreed,
         coalesce(get(filter(labels.probabilities, one -> one.label = annotations.label), 0).probability, 0D)
           AS probability
  FROM edos.annotations AS annotations
  JOIN edos.crowd_labels AS labels
    ON labels.dialogue_id = annotations.dialogue_id AND labels.turn = annotations.turn
)
SELECT source, worker_id, count(*) AS votes, round(avg(probability), 4) AS reliability,
       round(try_divide(count_if(label = agreed), count(agreed)), 4) AS share_with_label
FROM votes GROUP BY source, worker_id ORDER BY reliability, source, worker_id
