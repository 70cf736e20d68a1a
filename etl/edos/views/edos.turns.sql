-- One turn of a finished EDOS dialogue with both labels, its film, and where it stands in its subtitle file.
--
-- plain_text is the text without the blanks of OPUS's tokens; blanks inside quotation marks stay, which exports take
-- out too (etl/common/spelling.py), because DuckDB's regular expressions cannot. label_accepted says whether the
-- confidence reaches the threshold of the label (edos.label_thresholds). split is that of an export with the
-- default shares: by film, a tenth for test and a tenth for validation. certainty is the probability that a turn is one
-- speaker's, and whole; border says what decided that it opens (start, silence, mark, carried, model, rule), border_certainty how
-- certain that is; dialogue_certainty is the probability that all borders of the dialogue are right; speaker is the name of
-- the label that the turn opens with.
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
       finished.label_accepted, finished.movie_id, spoken.year, spoken.genres, spoken.language, spoken.release,
       CASE WHEN finished.share < 0.1D THEN 'test' WHEN finished.share < 0.2D THEN 'validation' ELSE 'train' END
         AS split,
       spoken.source_path, spoken.sentence_first, spoken.sentence_last, spoken.start_ms, spoken.end_ms,
       spoken.certainty, spoken.border, spoken.border_certainty, spoken.speaker, spoken.dialogue_certainty
FROM finished
LEFT JOIN spoken ON spoken.dialogue_id = finished.dialogue_id AND spoken.turn = finished.turn
LEFT JOIN edos.weak_labels AS weak ON weak.dialogue_id = finished.dialogue_id AND weak.turn = finished.turn
