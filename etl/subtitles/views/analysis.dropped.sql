-- One file, dialogue or turn that a stage left out, with its reason and its film.
--
-- movie_id is null where the id names no file that was read, such as votes of the crowd. A sentence of the ledger may
-- stand for several units.
WITH uploads AS (
  SELECT subtitle_id, min(movie_id) AS movie_id FROM subtitles.files GROUP BY subtitle_id
), paths AS (
  SELECT source_path, min(movie_id) AS movie_id FROM subtitles.files GROUP BY source_path
)
SELECT lost.stage, lost.unit, lost.id, lost.reason, lost.detail, coalesce(lost.units, 1) AS units,
       coalesce(uploads.movie_id, paths.movie_id) AS movie_id
FROM ops.dropped AS lost
LEFT JOIN uploads ON lost.unit IN ('dialogue', 'turn', 'sentence')
  AND uploads.subtitle_id = substring_index(lost.id, '-', 1)
LEFT JOIN paths ON lost.unit = 'file' AND paths.source_path = lost.id
