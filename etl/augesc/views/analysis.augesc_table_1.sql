-- AugESC Table 1: texts that violate each requirement, and that are kept; the paper's percent beside ours.
--
-- method: what wrote the texts: augmenter, untuned, role_models or people
-- source: ed, reddit: where the queries come from; esconv, failed_esconv: sessions of people
-- place: place of the requirement in the paper's table, from 1
-- requirement: what is violated; final_retention: nothing is
-- texts: texts of method and source; null: only the paper has them
-- number: texts that violate the requirement; of final_retention: texts that are kept
-- percent: number in percent of texts
-- strict_number: number where each line is one utterance, as the paper reads texts; null: augesc_check_paper_reading did not run
-- strict_percent: strict_number in percent of texts
-- paper_percent: the paper's percent; null: not in its table
-- paper_name: name of method and source in the paper; null: not in its table
--
-- number is of texts as augesc.reading has them read. In the paper GPT-3 is the untuned model.
WITH requirements AS (
  SELECT DISTINCT place, requirement FROM analysis.augesc_paper_table_1
), counted AS (
  SELECT reading, method, source, texts, requirement, number FROM analysis.augesc_readings LATERAL VIEW stack(9,
    'format', format, 'session_length', session_length, 'utterances', utterances, 'continuous', continuous,
    'balance', balance, 'role_words', role_words, 'seeker_length', seeker_length, 'supporter_length', supporter_length,
    'final_retention', kept) AS requirement, number
), ours AS (
  SELECT method, source, requirement, max(CASE WHEN reading = 'read' THEN texts END) AS texts,
         max(CASE WHEN reading = 'read' THEN number END) AS number,
         max(CASE WHEN reading = 'paper' THEN texts END) AS strict_texts,
         max(CASE WHEN reading = 'paper' THEN number END) AS strict_number
  FROM counted GROUP BY method, source, requirement
)
SELECT coalesce(ours.method, paper.method) AS method, coalesce(ours.source, paper.source) AS source,
       requirements.place, requirements.requirement, ours.texts, ours.number,
       round(100 * ours.number / ours.texts, 1) AS percent, ours.strict_number,
       round(100 * ours.strict_number / ours.strict_texts, 1) AS strict_percent, paper.percent AS paper_percent,
       paper.name AS paper_name
FROM ours FULL JOIN analysis.augesc_paper_table_1 AS paper
  ON ours.method = paper.method AND ours.source = paper.source AND ours.requirement = paper.requirement
JOIN requirements ON requirements.requirement = coalesce(ours.requirement, paper.requirement)
ORDER BY method, source, place
