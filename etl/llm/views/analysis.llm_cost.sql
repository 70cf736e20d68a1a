-- Emo Pillars 4, C: prompts, tokens and time of each step, and hours at the paper's numbers of prompts.
--
-- step: step that asked: the name of its table in the schema llm; context-less, context-full: Emo Pillars' steps of that data set; all: the steps of the model
-- model: identity of the language model
-- prompts: prompts that were sent, each sample counted
-- errors: prompts without an answer
-- prompt_tokens: tokens of these prompts, of the model
-- answer_tokens: tokens of the answers, of the model
-- seconds: seconds, summed over prompts; of a server the time that each waited, many at once
-- clock_seconds: seconds that the stage's runs with the model took; null: no run is known
-- seconds_a_prompt: seconds over prompts
-- paper_prompts: prompts of the steps in the paper; null: a step that it does not have, or a model that was not asked for Emo Pillars
-- projected_hours: hours for the paper's number of prompts, by clock_seconds if known, else seconds
-- paper_hours: GPU hours that the paper took for these steps; null for one step, and where paper_prompts is null
-- cost: cost of the tokens, by prices.million_tokens; null: a model without prices
-- projected_cost: cost for the paper's number of prompts; null: a model without prices, or a step that the paper does not have
--
-- The paper took 450 GPU hours for 700 K inferences (section 4), or about 400, half for each data set (C).
WITH clock AS (
  SELECT replace(stage, '_ask_', '_') AS step, model, sum(seconds) AS clock_seconds
  FROM ops.stage_runs LATERAL VIEW explode(map_values(models)) AS model
  WHERE event IN ('done', 'failed') GROUP BY replace(stage, '_ask_', '_'), model
), said AS (
  SELECT step, model, count(*) AS prompts, count(error) AS errors, sum(prompt_tokens) AS prompt_tokens,
         sum(answer_tokens) AS answer_tokens, sum(seconds) AS seconds
  FROM llm.generations GROUP BY step, model
), priced AS (
  SELECT model, max_by(prompt_price, length(begins_with)) AS prompt_price,
         max_by(completion_price, length(begins_with)) AS completion_price
  FROM (SELECT DISTINCT model FROM said) AS models
  JOIN analysis.token_prices AS prices ON left(model, length(begins_with)) = begins_with GROUP BY model
), timed AS (
  SELECT said.*, clock_seconds,
         (coalesce(prompt_tokens, 0) * prompt_price + coalesce(answer_tokens, 0) * completion_price) / 1000000 AS cost
  FROM said LEFT JOIN clock ON clock.step = said.step AND clock.model = said.model
  LEFT JOIN priced ON priced.model = said.model
), rows AS (
  SELECT timed.*, CAST(paper.prompts AS bigint) AS paper_prompts, CAST(NULL AS bigint) AS paper_hours
  FROM timed LEFT JOIN analysis.emo_pillars_paper_prompts AS paper ON timed.step = paper.step
  UNION ALL
  SELECT CASE WHEN timed.step IN ('emo_pillars_actors', 'emo_pillars_utterances', 'emo_pillars_soft_labels')
              THEN 'context-less' ELSE 'context-full' END, model, sum(timed.prompts), sum(errors), sum(prompt_tokens),
         sum(answer_tokens), sum(seconds), sum(clock_seconds), sum(cost), CAST(sum(paper.prompts) AS bigint), 200L
  FROM timed JOIN analysis.emo_pillars_paper_prompts AS paper ON timed.step = paper.step GROUP BY 1, model
  UNION ALL
  SELECT 'all', model, sum(timed.prompts), sum(errors), sum(prompt_tokens), sum(answer_tokens), sum(seconds),
         sum(clock_seconds), sum(cost), CASE WHEN count(paper.step) > 0 THEN 700000L END,
         CASE WHEN count(paper.step) > 0 THEN 450L END
  FROM timed LEFT JOIN analysis.emo_pillars_paper_prompts AS paper ON timed.step = paper.step GROUP BY model
)
SELECT step, model, prompts, errors, prompt_tokens, answer_tokens, round(seconds, 1) AS seconds,
       round(clock_seconds, 1) AS clock_seconds,
       round(try_divide(seconds, prompts), 3) AS seconds_a_prompt, paper_prompts,
       round(try_divide(coalesce(clock_seconds, seconds), prompts) * paper_prompts / 3600, 1) AS projected_hours, paper_hours,
       round(cost, 4) AS cost, round(try_divide(cost, prompts) * paper_prompts, 2) AS projected_cost
FROM rows ORDER BY model, CASE step WHEN 'all' THEN 2 WHEN 'context-less' THEN 1 WHEN 'context-full' THEN 1 ELSE 0 END, step
