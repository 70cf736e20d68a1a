-- One file, dialogue or turn that a stage left out, with its reason and its film.
--
-- stage: stage that left it out
-- unit: what was left out: file, dialogue, turn, sentence, ...
-- id: id of what was left out, in the form of its unit
-- reason: rule or fault for which it was left out
-- detail: evidence, such as the text, the value, or the other copy's id
-- units: units of the stage's account that the row stands for
-- movie_id: film that it is from; null: the id names no file that was read, as votes of the crowd
WITH uploads AS (
  SELECT subtitle_id, min(movie_id) AS movie_id FROM subtitles.files GROUP BY subtitle_id
), paths AS (
  SELECT source_path, min(movie_id) AS movie_id FROM subtitles.files GROUP BY source_path
)
SELECT lost.stage, lost.unit, lost.id, lost.reason, lost.detail, coalesce(lost.units, 1) AS units,
       coalesce(uploads.movie_id, paths.movie_id) AS movie_id
FROM ops.dropped AS lost
LEFT JOIN uploads ON lost.unit IN ('dialogue', 'turn', 'part', 'sentence')
  AND uploads.subtitle_id = substring_index(lost.id, '-', 1)
LEFT JOIN paths ON lost.unit = 'file' AND paths.source_path = lost.id
