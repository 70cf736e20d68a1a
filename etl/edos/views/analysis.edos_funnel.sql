-- From files to finished dialogues: what is left after each step, with its films and turns, the paper's count beside ours.
--
-- place: order of the steps
-- step: place on the way from files to finished dialogues
-- unit: what is counted: files, dialogues or films
-- units: files, dialogues or films that are left here
-- films: films that these are of
-- turns: turns of these dialogues; null: they are files or films
-- paper: the paper's count of units; null: it does not say
-- note: what units and paper count where that differs; turns that are not certain enough; turns whose label is accepted
--
-- A step whose table is not there is left out.
-- The paper's 3.7 million files are of all languages. OPUS v2018 has 446,612 English ones, from
-- which its English dialogues come: note says so where the two counts are not of the same thing.
SELECT 1 AS place, 'subtitle files found' AS step, 'files' AS unit, count(*) AS units,
       count(DISTINCT movie_id) AS films, CAST(NULL AS bigint) AS turns, 3700000L AS paper,
       'paper: all languages; English in OPUS v2018: 446,612; here: all files found' AS note
FROM subtitles.manifest
UNION ALL /* where it is there */
SELECT 2 AS place, 'read' AS step, 'files' AS unit, count(*) AS units,
       count(DISTINCT movie_id) AS films, CAST(NULL AS bigint) AS turns, CAST(NULL AS bigint) AS paper,
       CAST(NULL AS string) AS note
FROM subtitles.files
UNION ALL /* where it is there */
SELECT 3 AS place, 'uploads chosen' AS step, 'files' AS unit, count(*) AS units,
       count(DISTINCT movie_id) AS films, CAST(NULL AS bigint) AS turns, CAST(NULL AS bigint) AS paper,
       CAST(NULL AS string) AS note
FROM subtitles.chosen_uploads
UNION ALL /* where it is there */
SELECT 4 AS place, 'dialogues between silences' AS step, 'dialogues' AS unit, count(*) AS units,
       count(DISTINCT movie_id) AS films, coalesce(sum(size(turns)), 0) AS turns, 9000000L AS paper,
       CAST(NULL AS string) AS note
FROM subtitles.dialogues
UNION ALL /* where it is there */
SELECT 5 AS place, 'after cleaning' AS step, 'dialogues' AS unit, count(*) AS units,
       count(DISTINCT movie_id) AS films, coalesce(sum(size(turns)), 0) AS turns, 4000000L AS paper,
       (SELECT concat('turns left out as not certain enough: ', format_number(CAST(sum(all_turns) AS double), 0))
        FROM analysis.cleaning_cost WHERE rule = 'uncertain_turn') AS note
FROM subtitles.clean_dialogues
UNION ALL /* where it is there */
SELECT 6 AS place, 'most emotional by weak label' AS step, 'dialogues' AS unit, count(*) AS units,
       count(DISTINCT movie_id) AS films, coalesce(sum(size(turns)), 0) AS turns, 1000000L AS paper,
       CAST(NULL AS string) AS note
FROM edos.initial
UNION ALL /* where it is there */
SELECT 7 AS place, 'finished, every turn labelled' AS step, 'dialogues' AS unit, count(*) AS units,
       count(DISTINCT movie_id) AS films, coalesce(sum(size(turns)), 0) AS turns, 1000000L AS paper,
       concat('turns with an accepted label: ', format_number(CAST(sum(size(filter(accepted, one -> one))) AS double), 0)) AS note
FROM edos.dialogues
UNION ALL /* where it is there */
SELECT 8 AS place, 'films they come from' AS step, 'films' AS unit, count(DISTINCT movie_id) AS units,
       count(DISTINCT movie_id) AS films, CAST(NULL AS bigint) AS turns, CAST(NULL AS bigint) AS paper,
       CAST(NULL AS string) AS note
FROM edos.dialogues
