-- One film: its year, decade and genres, and how much of it there is. The films of a star for BI tools.
--
-- movie_id: IMDb number of the film; file:<subtitle_id> if its path names none
-- year: most frequent year in the metadata of its files, the earliest of several; null: none
-- decade: first year of the decade; null without a year
-- genres: genres in the metadata of one of its files; null: none has any
-- language: language of its subtitles, by their paths, the first in the alphabet of several
-- uploads: subtitle files of the film that were read
-- clean_dialogues: dialogues of the film after all cleaning rules
-- dialogues: finished EDOS dialogues of the film
-- turns: turns of these finished dialogues
--
-- It joins with movie_id to edos.turns, analysis.turn_genres and analysis.dropped.
WITH years AS (
  SELECT movie_id, year, count(*) AS files FROM subtitles.files WHERE year IS NOT NULL GROUP BY movie_id, year
), usual AS (
  SELECT movie_id, max_by(year, struct(files, -year)) AS year FROM years GROUP BY movie_id
), counted AS (
  SELECT movie_id, count(*) AS uploads, max(genres) AS genres, min(language) AS language
  FROM subtitles.files GROUP BY movie_id
), read AS (
  SELECT counted.*, usual.year FROM counted LEFT JOIN usual ON usual.movie_id = counted.movie_id
), clean AS (
  SELECT movie_id, count(*) AS clean_dialogues FROM subtitles.clean_dialogues GROUP BY movie_id
), finished AS (
  SELECT movie_id, count(*) AS dialogues, sum(size(turns)) AS turns FROM edos.dialogues GROUP BY movie_id
)
SELECT read.movie_id, read.year, CAST(floor(read.year / 10) * 10 AS int) AS decade, read.genres, read.language,
       read.uploads, coalesce(clean.clean_dialogues, 0) AS clean_dialogues,
       coalesce(finished.dialogues, 0) AS dialogues, coalesce(finished.turns, 0) AS turns
FROM read LEFT JOIN clean ON clean.movie_id = read.movie_id
LEFT JOIN finished ON finished.movie_id = read.movie_id
ORDER BY read.movie_id
