-- Where a dialogue comes from, each decision on its way with stage, model and version, and what depends on it.
--
-- dialogue_id: id of the dialogue on whose way it is
-- source_path: path of its subtitle file; null where a table names dialogues alone
-- place: order on the way: 10 the film to 160 the finished labels; from 200 on what depends on it
-- step: kind of fact or decision, such as film, turn change, weak label; read by: a later stage
-- number: sentence or turn that it is about, from 0; null: the whole dialogue
-- decision: what was found or decided: a text, a label, an id, a reason; who read the dialogue
-- detail: on what grounds, such as times, margin, confidence or votes
-- model: identity of the model that decided; null: none did, or the table does not hold it
-- source: table that holds it
-- stage: stage that wrote it there, or read the dialogue
-- run_id: id of the last finished run of the stage; null: no run is known
-- stage_version: version of the stage's rules in that run
-- settings_hash: hash of the settings, outside files and resources of that run; null: no run is known
-- package: version of this project in that run
-- models: identities of the models that the run used, by their keys under models
-- version: version of the table, or of the model, that the run wrote
--
-- Select one dialogue_id, and sort by place, number and decision. Rows from place 200 on depend on the dialogue: rows that
-- took its label, replies to learn from, and stages that have read a table with it ('read by'; a training's decision is
-- its model).
WITH runs AS (
  SELECT one.* FROM (
    SELECT max_by(named_struct('stage', stage, 'run_id', run_id, 'stage_version', stage_version,
             'settings_hash', settings_hash, 'package', package_version, 'models', models,
             'input_versions', input_versions, 'output_version', output_version, 'started', started), started) AS one
    FROM ops.stage_runs WHERE event = 'done' GROUP BY stage)
), held AS (
  SELECT DISTINCT dialogue_id, source FROM analysis.dialogue_steps WHERE place BETWEEN 80 AND 160
)
SELECT steps.dialogue_id, steps.source_path, steps.place, steps.step, steps.number, steps.decision, steps.detail,
       steps.model, steps.source, steps.stage, runs.run_id, runs.stage_version, runs.settings_hash, runs.package,
       runs.models, runs.output_version AS version
FROM analysis.dialogue_steps AS steps LEFT JOIN runs ON runs.stage = steps.stage
UNION ALL
SELECT held.dialogue_id, NULL, 300, 'read by', NULL,
       CASE WHEN runs.output_version LIKE '%:/%' THEN runs.output_version ELSE runs.stage END,
       concat(held.source, ' version ', try_element_at(runs.input_versions, held.source)), NULL, held.source,
       runs.stage, runs.run_id, runs.stage_version, runs.settings_hash, runs.package, runs.models, runs.output_version
FROM held JOIN runs ON try_element_at(runs.input_versions, held.source) IS NOT NULL
