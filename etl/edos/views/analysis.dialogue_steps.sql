-- One fact or decision on the way of a dialogue, from its film to the tables that hold it.
--
-- dialogue_id: id of the dialogue; at place 70 the id that ops.dropped has, which may name something else
-- source_path: path of its subtitle file; null where a table names dialogues alone
-- place: order on the way: 10 the film to 160 the finished labels; from 200 on what depends on it
-- step: kind of fact or decision, such as film, turn change, weak label
-- number: sentence or turn that it is about, from 0; null: the whole dialogue
-- decision: what was found or decided: a text, a label, an id, a reason
-- detail: on what grounds, such as times, margin, confidence or votes
-- model: identity of the model that decided; null: none did, or the table does not hold it
-- source: table that holds it
-- stage: stage that wrote it there
--
-- source is put together, because names of tables in a view get lakehouse.schema_prefix. analysis.dialogue_trace adds the
-- run of the stage. Facts that depend on a dialogue_id are found without reading whole tables if the source_path is given
-- too, as `python -m jobs trace` does. A clean dialogue that was cut out of a longer one has the row 'part of', which names the
-- raw dialogue; that one's way is the rows up to place 70. The raw dialogue has a row for each part, kept or dropped.
SELECT CAST(NULL AS string) AS dialogue_id, CAST(NULL AS string) AS source_path, 0 AS place, CAST(NULL AS string) AS step,
       CAST(NULL AS int) AS number, CAST(NULL AS string) AS decision, CAST(NULL AS string) AS detail,
       CAST(NULL AS string) AS model, CAST(NULL AS string) AS source, CAST(NULL AS string) AS stage
WHERE 1 = 0
UNION ALL /* where it is there */
SELECT dialogue_id, source_path, 10, 'film', NULL, movie_id,
       concat_ws(', ', CAST(year AS string), nullif(concat_ws('/', genres), ''), language, release), NULL,
       concat('subtitles', '.files'), 'ingest_subtitles'
FROM subtitles.dialogues
UNION ALL /* where it is there */
SELECT dialogue.dialogue_id, dialogue.source_path, 20, 'upload', NULL, upload.subtitle_id,
       concat('choice ', upload.choice, ' of ', upload.uploads, ' uploads'), NULL,
       concat('subtitles', '.chosen_uploads'), 'choose_uploads'
FROM subtitles.dialogues AS dialogue
JOIN subtitles.chosen_uploads AS upload ON upload.source_path = dialogue.source_path
UNION ALL /* where it is there */
SELECT dialogue.dialogue_id, dialogue.source_path, 30, 'file', NULL, found.container,
       concat(coalesce(concat('member ', found.member, ' at byte ', CAST(found.offset AS string), ', '), ''),
              CAST(found.bytes AS string), ' bytes, ', coalesce(concat('CRC ', hex(found.crc), ', '), ''),
              'version ', coalesce(found.tag, 'unknown')),
       NULL, concat('subtitles', '.manifest'), 'find_subtitles'
FROM subtitles.dialogues AS dialogue JOIN subtitles.manifest AS found ON found.source_path = dialogue.source_path
UNION ALL /* where it is there */
SELECT dialogue.dialogue_id, dialogue.source_path, 40, 'sentence', line.index, line.text,
       concat(coalesce(CAST(line.start_ms AS string), '?'), ' to ', coalesce(CAST(line.end_ms AS string), '?'), ' ms'),
       NULL, concat('subtitles', '.files'), 'ingest_subtitles'
FROM subtitles.dialogues AS dialogue JOIN subtitles.files AS file ON file.source_path = dialogue.source_path
LATERAL VIEW explode(filter(file.sentences, one -> one.index BETWEEN dialogue.turns[0].sentence_first
  AND element_at(dialogue.turns, -1).sentence_last)) AS line
UNION ALL /* where it is there */
SELECT dialogue.dialogue_id, dialogue.source_path, 50, 'turn change', border + 1,
       CASE WHEN array_contains(transform(dialogue.turns, one -> one.sentence_first), border + 1)
            THEN 'opens a turn' ELSE 'goes on' END,
       concat('by ', coalesce(get(scored.sources, border), 'model'), ', margin ',
              coalesce(format_number(get(scored.scores, border), 4), 'none')),
       CASE WHEN coalesce(get(scored.sources, border), 'model') IN ('model', 'rule') THEN scored.model END,
       concat('subtitles', '.turn_scores'), 'score_turns'
FROM subtitles.dialogues AS dialogue JOIN subtitles.turn_scores AS scored ON scored.source_path = dialogue.source_path
LATERAL VIEW explode(filter(sequence(0, size(scored.scores)), one -> one >= dialogue.turns[0].sentence_first
  AND one < element_at(dialogue.turns, -1).sentence_last)) AS border
UNION ALL /* where it is there */
SELECT dialogue_id, source_path, 60, 'raw dialogue', NULL, concat(size(turns), ' turns'),
       concat('sentences ', turns[0].sentence_first, ' to ', element_at(turns, -1).sentence_last), NULL,
       concat('subtitles', '.dialogues'), 'segment_dialogues'
FROM subtitles.dialogues
UNION ALL /* where it is there */
SELECT dialogue_id, source_path, 65, 'part of', NULL, raw_dialogue_id,
       concat('sentences ', turns[0].sentence_first, ' to ', element_at(turns, -1).sentence_last), NULL,
       concat('subtitles', '.clean_dialogues'), 'clean_dialogues'
FROM subtitles.clean_dialogues WHERE raw_dialogue_id <> dialogue_id
UNION ALL /* where it is there */
SELECT raw_dialogue_id, source_path, 75, 'part', NULL, dialogue_id,
       concat('sentences ', turns[0].sentence_first, ' to ', element_at(turns, -1).sentence_last), NULL,
       concat('subtitles', '.clean_dialogues'), 'clean_dialogues'
FROM subtitles.clean_dialogues WHERE raw_dialogue_id <> dialogue_id
UNION ALL /* where it is there */
SELECT raw.dialogue_id, raw.source_path, 75, 'part dropped', NULL, lost.reason, concat_ws(': ', lost.id, lost.detail), NULL,
       concat('ops', '.dropped'), lost.stage
FROM ops.dropped AS lost JOIN (
  SELECT dialogue_id, source_path, explode(transform(turns, one -> concat(subtitle_id, '-', one.sentence_first))) AS part
  FROM subtitles.dialogues) AS raw ON raw.part = lost.id
WHERE lost.unit = 'dialogue' AND raw.part <> raw.dialogue_id
UNION ALL /* where it is there */
SELECT substring_index(id, '/', 1), NULL, 70, concat(unit, ' dropped'),
       CASE WHEN instr(id, '/') > 0 THEN try_cast(substring_index(id, '/', -1) AS int) END, reason, detail, NULL,
       concat('ops', '.dropped'), stage
FROM ops.dropped WHERE unit IN ('dialogue', 'turn')
UNION ALL /* where it is there */
SELECT dialogue_id, source_path, 80, 'clean turn', number, turn.text,
       concat('sentences ', turn.sentence_first, ' to ', turn.sentence_last), NULL,
       concat('subtitles', '.clean_dialogues'), 'clean_dialogues'
FROM subtitles.clean_dialogues LATERAL VIEW posexplode(turns) AS number, turn
UNION ALL /* where it is there */
SELECT dialogue_id, NULL, 90, 'weak label', turn, label, concat('confidence ', format_number(confidence, 4)), model,
       concat('edos', '.weak_labels'), 'label_weakly'
FROM edos.weak_labels
UNION ALL /* where it is there */
SELECT dialogue_id, NULL, 100, 'chosen as emotional', NULL, concat('rank ', rank),
       concat('confidence ', format_number(confidence, 4)), NULL, concat('edos', '.initial'), 'select_emotional'
FROM edos.initial
UNION ALL /* where it is there */
SELECT dialogue_id, NULL, 110, 'crowd label', turn, coalesce(label, 'no majority'),
       concat('votes ', concat_ws(', ', votes), '; ', source), NULL, concat('edos', '.crowd_labels'), 'agree_labels'
FROM edos.crowd_labels
UNION ALL /* where it is there */
SELECT dialogue_id, NULL, 120, 'similar to a labelled dialogue', turn, coalesce(label, 'held out'),
       concat('cosine ', format_number(score, 4), ' to ', seed_id), NULL, concat('edos', '.similar_matches'), 'search_similar'
FROM edos.similar_matches
UNION ALL /* where it is there */
SELECT dialogue_id, NULL, 130, 'self-label', turn, label, concat('confidence ', format_number(score, 4)), NULL,
       concat('edos', '.self_labelled'), 'self_label'
FROM edos.self_labelled
UNION ALL /* where it is there */
SELECT dialogue_id, NULL, 140, 'similar to a self-labelled dialogue', turn, coalesce(label, 'held out'),
       concat('cosine ', format_number(score, 4), ' to ', seed_id), NULL, concat('edos', '.similar_self_matches'), 'search_similar_again'
FROM edos.similar_self_matches
UNION ALL /* where it is there */
SELECT dialogue_id, NULL, 150, 'training row', turn, label,
       concat_ws(', ', origin, split, concat('score ', format_number(score, 4)), concat('from ', matched_id)), NULL,
       concat('edos', '.training_dialogues'), 'gather_training_dialogues'
FROM edos.training_dialogues
UNION ALL /* where it is there */
SELECT dialogue_id, NULL, 160, 'label', number, turn.label, concat('confidence ', format_number(turn.confidence, 4)), model,
       concat('edos', '.dialogues'), 'annotate_dialogues'
FROM edos.dialogues LATERAL VIEW posexplode(turns) AS number, turn
UNION ALL /* where it is there */
SELECT substring_index(matched_id, '/', 1), NULL, 200, 'gave its label to',
       try_cast(substring_index(matched_id, '/', -1) AS int), concat(dialogue_id, '/', turn),
       concat_ws(', ', label, origin, split), NULL, concat('edos', '.training_dialogues'), 'gather_training_dialogues'
FROM edos.training_dialogues WHERE matched_id IS NOT NULL
UNION ALL /* where it is there */
SELECT split_part(example_id, '/', 2), NULL, 210, 'reply to learn from',
       try_cast(split_part(example_id, '/', 3) AS int), reply, concat_ws(', ', source, split, intent), NULL,
       concat('replies', '.examples'), 'replies_gather'
FROM replies.examples WHERE source IN ('os', 'edos')
