-- EDOS Table 8 at every threshold: how many dialogues it labels, and sample pairs just above it.
--
-- origin: similar: to a crowd-labelled dialogue; similar_self: to a self-labelled one
-- threshold: least cosine, in steps of 0.01
-- dialogues: dialogues with a match at or above the threshold
-- with_rival_label: of these, dialogues whose matches have more than one label
-- samples: up to three pairs less than 0.01 above it: score, label, labelled, similar; null: none
--
-- Thresholds are steps of 0.01 from the stored matches' floor on, with three sample pairs each.
WITH matches AS (
  SELECT 'similar' AS origin, * FROM edos.similar_matches WHERE label IS NOT NULL
  UNION ALL SELECT 'similar_self' AS origin, * FROM edos.similar_self_matches
), best AS (
  SELECT origin, dialogue_id, turn, max(score) AS score, min_by(struct(label, seed_id), struct(rank, seed_id)) AS seed,
         CAST(floor(round(max(score) / 0.01, 2)) AS int) AS band, count(DISTINCT label) > 1 AS rivals
  FROM matches GROUP BY origin, dialogue_id, turn
), counted AS (
  SELECT origin, band, count(*) AS dialogues, count_if(rivals) AS with_rival FROM best GROUP BY origin, band
), texts AS (
  SELECT 'similar' AS origin, concat_ws('/', dialogue_id, turn) AS seed_id, turns FROM edos.seeds
  UNION ALL SELECT 'similar_self', concat_ws('/', dialogue_id, turn), turns FROM edos.self_labelled
), told AS (
  SELECT best.origin, best.band, best.score, best.seed.label, texts.turns AS labelled,
         transform(dialogues.turns, line -> line.text) AS similar,
         row_number() OVER (PARTITION BY best.origin, best.band ORDER BY md5(best.dialogue_id), best.dialogue_id, best.turn)
           AS place
  FROM best JOIN texts ON texts.seed_id = best.seed.seed_id AND texts.origin = best.origin
  JOIN subtitles.clean_dialogues AS dialogues ON dialogues.dialogue_id = best.dialogue_id
), samples AS (
  SELECT origin, band, transform(array_sort(collect_list(named_struct('place', place, 'score', score, 'label', label,
           'labelled', array_join(labelled, ' | '), 'similar', array_join(similar, ' | ')))),
         one -> named_struct('score', one.score, 'label', one.label, 'labelled', one.labelled, 'similar', one.similar))
         AS samples
  FROM told WHERE place <= 3 GROUP BY origin, band
)
SELECT counted.origin, CAST(round(counted.band * 0.01, 2) AS double) AS threshold,
       sum(counted.dialogues) OVER above AS dialogues, sum(counted.with_rival) OVER above AS with_rival_label,
       samples.samples
FROM counted LEFT JOIN samples ON samples.origin = counted.origin AND samples.band = counted.band
WINDOW above AS (PARTITION BY counted.origin ORDER BY counted.band DESC)
ORDER BY origin, threshold DESC
