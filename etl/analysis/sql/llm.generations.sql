-- One raw answer of the language model, with the step that asked for it.
SELECT 'emo_pillars_actors' AS step, model, request_id, prompt_hash, parameters_hash, sample,
       prompt, answer_start, parameters, text, finish_reason, prompt_tokens, answer_tokens, seconds, error
FROM llm.emo_pillars_actors
UNION ALL /* where it is there */
SELECT 'emo_pillars_utterances' AS step, model, request_id, prompt_hash, parameters_hash, sample,
       prompt, answer_start, parameters, text, finish_reason, prompt_tokens, answer_tokens, seconds, error
FROM llm.emo_pillars_utterances
UNION ALL /* where it is there */
SELECT 'emo_pillars_soft_labels' AS step, model, request_id, prompt_hash, parameters_hash, sample,
       prompt, answer_start, parameters, text, finish_reason, prompt_tokens, answer_tokens, seconds, error
FROM llm.emo_pillars_soft_labels
UNION ALL /* where it is there */
SELECT 'emo_pillars_contexts' AS step, model, request_id, prompt_hash, parameters_hash, sample,
       prompt, answer_start, parameters, text, finish_reason, prompt_tokens, answer_tokens, seconds, error
FROM llm.emo_pillars_contexts
UNION ALL /* where it is there */
SELECT 'emo_pillars_clean_contexts' AS step, model, request_id, prompt_hash, parameters_hash, sample,
       prompt, answer_start, parameters, text, finish_reason, prompt_tokens, answer_tokens, seconds, error
FROM llm.emo_pillars_clean_contexts
UNION ALL /* where it is there */
SELECT 'emo_pillars_rewrites' AS step, model, request_id, prompt_hash, parameters_hash, sample,
       prompt, answer_start, parameters, text, finish_reason, prompt_tokens, answer_tokens, seconds, error
FROM llm.emo_pillars_rewrites
UNION ALL /* where it is there */
SELECT 'emo_pillars_topic_names' AS step, model, request_id, prompt_hash, parameters_hash, sample,
       prompt, answer_start, parameters, text, finish_reason, prompt_tokens, answer_tokens, seconds, error
FROM llm.emo_pillars_topic_names
UNION ALL /* where it is there */
SELECT 'emo_pillars_topic_categories' AS step, model, request_id, prompt_hash, parameters_hash, sample,
       prompt, answer_start, parameters, text, finish_reason, prompt_tokens, answer_tokens, seconds, error
FROM llm.emo_pillars_topic_categories
UNION ALL /* where it is there */
SELECT 'augesc_augmenter' AS step, model, request_id, prompt_hash, parameters_hash, sample,
       prompt, answer_start, parameters, text, finish_reason, prompt_tokens, answer_tokens, seconds, error
FROM llm.augesc_augmenter
UNION ALL /* where it is there */
SELECT 'augesc_untuned' AS step, model, request_id, prompt_hash, parameters_hash, sample,
       prompt, answer_start, parameters, text, finish_reason, prompt_tokens, answer_tokens, seconds, error
FROM llm.augesc_untuned
