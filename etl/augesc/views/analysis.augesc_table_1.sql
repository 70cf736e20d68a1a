-- AugESC Table 1: texts that violate each requirement, and that are kept; the paper's percent beside ours.
--
-- method: what wrote the texts: augmenter, untuned, role_models or people
-- source: ed, reddit: where the queries come from; esconv, failed_esconv: sessions of people
-- place: place of the requirement in the paper's table, from 1
-- requirement: what is violated; final_retention: nothing is
-- texts: texts of method and source; null: only the paper has them
-- number: texts that violate the requirement; of final_retention: texts that are kept
-- percent: number in percent of texts
-- paper_percent: the paper's percent; null: not in its table
-- paper_name: name of method and source in the paper; null: not in its table
WITH requirements AS (
  SELECT DISTINCT place, requirement FROM analysis.augesc_paper_table_1
), sizes AS (
  SELECT method, source, count(*) AS texts, count_if(format) AS format, count_if(session_length) AS session_length,
         count_if(utterances) AS utterances, count_if(continuous) AS continuous, count_if(balance) AS balance,
         count_if(role_words) AS role_words, count_if(seeker_length) AS seeker_length,
         count_if(supporter_length) AS supporter_length, count_if(kept) AS kept
  FROM augesc.violations GROUP BY method, source
), ours AS (
  SELECT method, source, texts, requirement, number FROM sizes LATERAL VIEW stack(9,
    'format', format, 'session_length', session_length, 'utterances', utterances, 'continuous', continuous,
    'balance', balance, 'role_words', role_words, 'seeker_length', seeker_length, 'supporter_length', supporter_length,
    'final_retention', kept) AS requirement, number
)
SELECT coalesce(ours.method, paper.method) AS method, coalesce(ours.source, paper.source) AS source,
       requirements.place, requirements.requirement, ours.texts, ours.number,
       round(100 * ours.number / ours.texts, 1) AS percent, paper.percent AS paper_percent, paper.name AS paper_name
FROM ours FULL JOIN analysis.augesc_paper_table_1 AS paper
  ON ours.method = paper.method AND ours.source = paper.source AND ours.requirement = paper.requirement
JOIN requirements ON requirements.requirement = coalesce(ours.requirement, paper.requirement)
ORDER BY method, source, place
