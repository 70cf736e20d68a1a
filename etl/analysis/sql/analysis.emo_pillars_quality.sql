-- How many raw answers can be read, and what share of it is usable, by step, model and prompt (not in the paper).
--
-- Items are characters, utterances, labels or texts. A usable item has no fault; see the setting emo_pillars.quality.
-- A prompt is the hash of the step's template, or other for the answers to earlier templates.
WITH counts AS (
  SELECT step, model, prompt, count(*) AS prompts, count(items) AS answered, count_if(items > 0) AS read,
         sum(items) AS items, sum(usable) AS usable, count_if(usable > 0) AS with_usable
  FROM emo_pillars.answer_quality GROUP BY step, model, prompt
), faults AS (
  SELECT step, model, prompt, fault, count(*) AS number
  FROM emo_pillars.answer_quality LATERAL VIEW explode(faults) AS fault GROUP BY step, model, prompt, fault
), listed AS (
  SELECT step, model, prompt,
         array_join(transform(sort_array(collect_list(struct(-number AS order, fault, number))),
                              one -> concat(one.fault, ' ', one.number)), ', ') AS faults
  FROM faults GROUP BY step, model, prompt
)
SELECT counts.step, counts.model, counts.prompt, prompts, answered, read, round(try_divide(read, prompts), 4) AS share_read,
       coalesce(items, 0) AS items, round(try_divide(items, prompts), 4) AS items_a_prompt,
       coalesce(usable, 0) AS usable, round(try_divide(usable, items), 4) AS usable_share,
       round(try_divide(with_usable, prompts), 4) AS share_with_usable, listed.faults
FROM counts
LEFT JOIN listed ON listed.step = counts.step AND listed.model = counts.model AND listed.prompt = counts.prompt
ORDER BY counts.model, counts.step, counts.prompt
