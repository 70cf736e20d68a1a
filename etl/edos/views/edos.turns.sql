-- One turn of a finished EDOS dialogue with both labels, its film, and where it stands in its subtitle file.
--
-- dialogue_id: id of the dialogue
-- turn: index of the turn in the dialogue, from 0
-- text: what is said, in OPUS's tokens, parted by blanks
-- plain_text: text without the blanks of OPUS's tokens; blanks inside quotation marks stay
-- weak_label: label by the weak labeler; null: none was given
-- weak_confidence: probability of the weak label, 0 to 1; null: none was given
-- label: label by the dialogue classifier
-- confidence: probability of the label, 0 to 1
-- label_accepted: confidence reaches the threshold of the label (edos.label_thresholds); null: unknown
-- movie_id: IMDb number of the film; file:<subtitle_id> if its path names none
-- year: year of the film; null: unknown
-- genres: genres of the film, by the file's metadata
-- language: language of the subtitles, by the path
-- release: OPUS release of the file, such as v2018; null: it is not from OPUS's folders
-- split: split of an export with the default shares, by film: train, validation or test
-- source_path: path of the subtitle file, relative to its source; zip!member in a zip
-- sentence_first: index of the turn's first sentence in the file, from 0; orders turns without times, too
-- sentence_last: index of the turn's last sentence in the file
-- start_ms: start in the film, milliseconds; null: the file has no time there
-- end_ms: end in the film, milliseconds; null: the file has no time there
-- starts_at: start in the film, hours:minutes:seconds, to find it in a player; null: the file has no time there
-- certainty: probability that the turn is one speaker's, and whole; null: unknown
-- border: what decided that the turn opens: start, silence, mark, carried, model; null: unknown
-- border_certainty: probability that the turn opens where the speaker changes; null: unknown
-- speaker: name before the turn in the subtitle, as in Anna: ..., in capitals; null: none
-- dialogue_certainty: probability that all borders of the dialogue are right; null: unknown
--
-- Exports take out the blanks inside quotation marks too (etl/common/spelling.py); DuckDB's regular expressions cannot.
WITH finished AS (
  SELECT dialogue_id, movie_id, turn, line.text, line.label, line.confidence, accepted[turn] AS label_accepted,
         CAST(conv(substring(sha2(concat_ws('\u0001', 'film', movie_id), 256), 1, 13), 16, 10) AS double)
           / 4503599627370496D AS share
  FROM edos.dialogues LATERAL VIEW posexplode(turns) AS turn, line
), spoken AS (
  SELECT dialogue_id, turn, year, genres, language, release, source_path,
         line.sentence_first, line.sentence_last, line.start_ms, line.end_ms,
         certainties[turn] AS certainty, borders[turn] AS border, border_certainties[turn] AS border_certainty,
         speakers[turn] AS speaker, certainty AS dialogue_certainty
  FROM subtitles.clean_dialogues LATERAL VIEW posexplode(turns) AS turn, line
)
SELECT finished.dialogue_id, finished.turn, finished.text,
       trim(regexp_replace(regexp_replace(regexp_replace(regexp_replace(finished.text,
         r'(?i)\s+([\x27\u2019](?:s|m|d|t|re|ve|ll)\b)', '$1'),
         r'\s+([,.!?\x3B:\u2026%)\]}]+)(?=\s|$|["\x27\u2019\u201d,.!?\x3B:\u2026)\]}])', '$1'),
         r'([(\[{$\u00a3\u20ac])\s+', '$1'),
         r'\s+', ' ')) AS plain_text,
       weak.label AS weak_label, weak.confidence AS weak_confidence, finished.label, finished.confidence,
       finished.label_accepted, finished.movie_id, spoken.year, spoken.genres, spoken.language,
       CASE WHEN finished.movie_id NOT LIKE 'file:%' THEN spoken.release END AS release,
       CASE WHEN finished.share < 0.1D THEN 'test' WHEN finished.share < 0.2D THEN 'validation' ELSE 'train' END
         AS split,
       spoken.source_path, spoken.sentence_first, spoken.sentence_last, spoken.start_ms, spoken.end_ms,
       lpad(CAST(spoken.start_ms DIV 3600000 AS string), 2, '0') || ':'
         || lpad(CAST(spoken.start_ms DIV 60000 % 60 AS string), 2, '0') || ':'
         || lpad(CAST(spoken.start_ms DIV 1000 % 60 AS string), 2, '0') AS starts_at,
       spoken.certainty, spoken.border, spoken.border_certainty, spoken.speaker, spoken.dialogue_certainty
FROM finished
LEFT JOIN spoken ON spoken.dialogue_id = finished.dialogue_id AND spoken.turn = finished.turn
LEFT JOIN edos.weak_labels AS weak ON weak.dialogue_id = finished.dialogue_id AND weak.turn = finished.turn
