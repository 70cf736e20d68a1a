-- Where a dialogue comes from, each decision on its way with stage, model and version, and what depends on it.
--
-- Select one dialogue_id, and sort by place, number and decision. run_id, stage_version, settings_hash, package and
-- models are those of the stage's last finished run. Rows from place 200 on depend on the dialogue: rows that took
-- its label, replies to learn from, and stages that have read a table with it ('read by'; a training's decision is
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
