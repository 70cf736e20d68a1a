-- Emo Pillars 4, C: prompts, tokens and time of each step, and hours at the paper's numbers of prompts.
--
-- The paper took 450 GPU hours for 700 K inferences. Ours are by step and model, projected to as many prompts as the
-- paper's. For a server, seconds are those that a request waited, so that requests under way at once count each.
WITH said AS (
  SELECT step, model, count(*) AS prompts, count(error) AS errors, sum(prompt_tokens) AS prompt_tokens,
         sum(answer_tokens) AS answer_tokens, sum(seconds) AS seconds
  FROM llm.generations GROUP BY step, model
), rows AS (
  SELECT said.*, CAST(paper.prompts AS bigint) AS paper_prompts, CAST(NULL AS bigint) AS paper_hours
  FROM said LEFT JOIN analysis.emo_pillars_paper_prompts AS paper ON said.step = paper.step
  UNION ALL
  SELECT 'all', model, sum(prompts), sum(errors), sum(prompt_tokens), sum(answer_tokens), sum(seconds), 700000L, 450L
  FROM said GROUP BY model
)
SELECT step, model, prompts, errors, prompt_tokens, answer_tokens, round(seconds, 1) AS seconds,
       round(try_divide(seconds, prompts), 3) AS seconds_a_prompt, paper_prompts,
       round(try_divide(seconds, prompts) * paper_prompts / 3600, 1) AS projected_hours, paper_hours
FROM rows ORDER BY model, step = 'all', step
