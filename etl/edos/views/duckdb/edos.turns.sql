-- The view edos.turns in DuckDB's SQL: the same columns, and the same rows in any order.
WITH finished AS (
  SELECT dialogue_id, movie_id, generate_subscripts(turns, 1) - 1 AS turn, unnest(turns) AS line, accepted,
         CAST('0x' || substring(sha256('film' || chr(1) || movie_id), 1, 13) AS bigint) / 4503599627370496.0 AS share
  FROM edos.dialogues
), spoken AS (
  SELECT dialogue_id, generate_subscripts(turns, 1) - 1 AS turn, unnest(turns) AS line,
         year, genres, language, release, source_path, certainties, borders, border_certainties, speakers,
         certainty AS dialogue_certainty
  FROM subtitles.clean_dialogues
)
SELECT finished.dialogue_id, CAST(finished.turn AS int) AS turn, finished.line.text AS text,
       trim(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(finished.line.text,
         -- In Java \s has \x0B, and \b knows all letters.
         '[\s\x0B]+', ' ', 'g'),
         -- Twice, for a match takes the blank that the next one begins with.
         ' ([\x27’](?:[sS]|[mM]|[dD]|[tT]|[rR][eE]|[vV][eE]|[lL][lL]))([^\pL\p{Nd}\p{Mn}_]|$)', '\1\2', 'g'),
         ' ([\x27’](?:[sS]|[mM]|[dD]|[tT]|[rR][eE]|[vV][eE]|[lL][lL]))([^\pL\p{Nd}\p{Mn}_]|$)', '\1\2', 'g'),
         ' ([,.!?\x3B:…%)\]}]+)( |$|["\x27’”,.!?\x3B:…)\]}])', '\1\2', 'g'),
         ' ([,.!?\x3B:…%)\]}]+)( |$|["\x27’”,.!?\x3B:…)\]}])', '\1\2', 'g'),
         '([(\[{$£€]) ', '\1', 'g'), ' ') AS plain_text,
       weak.label AS weak_label, weak.confidence AS weak_confidence,
       finished.line.label AS label, finished.line.confidence AS confidence,
       finished.accepted[finished.turn + 1] AS label_accepted,
       finished.movie_id, spoken.year, spoken.genres, spoken.language,
       CASE WHEN finished.movie_id NOT LIKE 'file:%' THEN spoken.release END AS release,
       CASE WHEN finished.share < 0.1 THEN 'test' WHEN finished.share < 0.2 THEN 'validation' ELSE 'train' END AS split,
       spoken.source_path, spoken.line.sentence_first AS sentence_first, spoken.line.sentence_last AS sentence_last,
       spoken.line.start_ms AS start_ms, spoken.line.end_ms AS end_ms,
       lpad(CAST(spoken.line.start_ms // 3600000 AS varchar), 2, '0') || ':'
         || lpad(CAST(spoken.line.start_ms // 60000 % 60 AS varchar), 2, '0') || ':'
         || lpad(CAST(spoken.line.start_ms // 1000 % 60 AS varchar), 2, '0') AS starts_at,
       spoken.certainties[spoken.turn + 1] AS certainty, spoken.borders[spoken.turn + 1] AS border,
       spoken.border_certainties[spoken.turn + 1] AS border_certainty, spoken.speakers[spoken.turn + 1] AS speaker,
       spoken.dialogue_certainty
FROM finished
LEFT JOIN spoken ON spoken.dialogue_id = finished.dialogue_id AND spoken.turn = finished.turn
LEFT JOIN edos.weak_labels AS weak ON weak.dialogue_id = finished.dialogue_id AND weak.turn = finished.turn
