-- What workers wrote in their own words under Other, outside the taxonomy: how often, by how many, on which labels.
--
-- Such answers are kept as given in edos.annotations. They count as votes, but name no label (114 of the released
-- votes). offered_labels are the labels that other workers gave to the same turns.
WITH own AS (
  SELECT dialogue_id, turn, worker_id, answer,
         trim(regexp_replace(regexp_replace(lower(answer), r'\s*\(other\)\s*$', ''), r'\s+', ' ')) AS words
  FROM edos.annotations WHERE label IS NULL AND trim(answer) <> ''
), others AS (
  SELECT own.words, labels.label
  FROM own JOIN edos.annotations AS labels
    ON labels.dialogue_id = own.dialogue_id AND labels.turn = own.turn AND labels.label IS NOT NULL
)
SELECT own.words, count(*) AS votes, count(DISTINCT own.worker_id) AS workers, count(DISTINCT dialogue_id, turn) AS turns,
       any_value(given.labels) AS offered_labels
FROM own LEFT JOIN (
  SELECT words, array_sort(collect_set(label)) AS labels FROM others GROUP BY words
) AS given ON given.words = own.words
GROUP BY own.words ORDER BY votes DESC, own.words
