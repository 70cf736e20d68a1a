-- From files to finished dialogues: what is left after each step, the paper's count beside ours.
--
-- place: order of the steps
-- step: place on the way from files to finished dialogues
-- unit: what is counted: files, dialogues or films
-- units: files, dialogues or films that are left here
-- paper: the paper's count; null: it does not say
-- note: where units and paper count different things; null: they do not
--
-- The paper's 3.7 million files are of all languages. OPUS v2018 has 446,612 English ones, from
-- which its English dialogues come: note says so where the two counts are not of the same thing.
WITH counts AS (
  SELECT 1 AS place, 'subtitle files found' AS step, 'files' AS unit, count(*) AS units, 3700000L AS paper
  FROM subtitles.manifest
  UNION ALL SELECT 2, 'read', 'files', count(*), NULL FROM subtitles.files
  UNION ALL SELECT 3, 'uploads chosen', 'files', count(*), NULL FROM subtitles.chosen_uploads
  UNION ALL SELECT 4, 'dialogues between silences', 'dialogues', count(*), 9000000L FROM subtitles.dialogues
  UNION ALL SELECT 5, 'after cleaning', 'dialogues', count(*), 4000000L FROM subtitles.clean_dialogues
  UNION ALL SELECT 6, 'most emotional by weak label', 'dialogues', count(*), 1000000L FROM edos.initial
  UNION ALL SELECT 7, 'finished, every turn labelled', 'dialogues', count(*), 1000000L FROM edos.dialogues
  UNION ALL SELECT 8, 'films they come from', 'films', count(DISTINCT movie_id), NULL FROM edos.dialogues
)
SELECT place, step, unit, units, paper,
       IF(place = 1, 'paper: all languages; English in OPUS v2018: 446,612; here: all files found', NULL) AS note
FROM counts ORDER BY place
