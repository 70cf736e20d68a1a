-- Emo Pillars 4, C: prompts, tokens and time of each step, and hours at the paper's numbers of prompts.
--
-- The paper took 450 GPU hours for 700 K inferences. Ours are by step and model, projected to as many prompts as the
-- paper's. The seconds are the sum of all requests': for a server those that each waited, though many are under way at
-- once. clock_seconds are those that the stage's runs took, and the projection is by them where they are known. The cost
-- is that of the tokens, for models in prices.million_tokens.
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
  SELECT 'all', model, sum(prompts), sum(errors), sum(prompt_tokens), sum(answer_tokens), sum(seconds), sum(clock_seconds),
         sum(cost), 700000L, 450L
  FROM timed GROUP BY model
)
SELECT step, model, prompts, errors, prompt_tokens, answer_tokens, round(seconds, 1) AS seconds,
       round(clock_seconds, 1) AS clock_seconds,
       round(try_divide(seconds, prompts), 3) AS seconds_a_prompt, paper_prompts,
       round(try_divide(coalesce(clock_seconds, seconds), prompts) * paper_prompts / 3600, 1) AS projected_hours, paper_hours,
       round(cost, 4) AS cost, round(try_divide(cost, prompts) * paper_prompts, 2) AS projected_cost
FROM rows ORDER BY model, step = 'all', step
