-- One film: its year, decade and genres, and how much of it there is. The films of a star for BI tools.
--
-- year and genres are those of its files' metadata, the most frequent year, null where no file has one. uploads counts
-- the files that were read. It joins with movie_id to edos.turns, analysis.turn_genres and analysis.dropped.
WITH read AS (
  SELECT movie_id, count(*) AS uploads, mode(year) AS year, max(genres) AS genres, min(language) AS language
  FROM subtitles.files GROUP BY movie_id
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
