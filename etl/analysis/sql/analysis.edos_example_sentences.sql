-- Sentences of the subtitle files that the dialogues of analysis.edos_examples were made of, before cleaning.
WITH shown AS (
  SELECT DISTINCT dialogue_id FROM analysis.edos_examples
), spans AS (
  SELECT clean.dialogue_id, clean.source_path, turn, line.sentence_first, line.sentence_last
  FROM subtitles.clean_dialogues AS clean JOIN shown ON shown.dialogue_id = clean.dialogue_id
  LATERAL VIEW posexplode(clean.turns) AS turn, line
)
SELECT spans.dialogue_id, spans.source_path, spans.turn, place AS sentence, sentence.start_ms, sentence.text
FROM spans JOIN subtitles.files AS files ON files.source_path = spans.source_path
LATERAL VIEW posexplode(slice(files.sentences, spans.sentence_first + 1,
                              spans.sentence_last - spans.sentence_first + 1)) AS at, sentence
LATERAL VIEW explode(array(spans.sentence_first + at)) AS place
ORDER BY spans.dialogue_id, sentence
