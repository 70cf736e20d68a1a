-- AugESC Table 1: texts that violate each requirement, and that are kept; the paper's percent beside ours.
WITH requirements AS (
  SELECT DISTINCT place, requirement FROM analysis.augesc_paper_table_1
), sizes AS (
  SELECT method, source, count(*) AS texts, map(
    'format', count_if(format), 'session_length', count_if(session_length), 'utterances', count_if(utterances),
    'continuous', count_if(continuous), 'balance', count_if(balance), 'role_words', count_if(role_words),
    'seeker_length', count_if(seeker_length), 'supporter_length', count_if(supporter_length),
    'final_retention', count_if(kept)) AS counted
  FROM augesc.violations GROUP BY method, source
), ours AS (
  SELECT method, source, texts, requirement, number FROM sizes LATERAL VIEW explode(counted) AS requirement, number
)
SELECT coalesce(ours.method, paper.method) AS method, coalesce(ours.source, paper.source) AS source,
       requirements.place, requirements.requirement, ours.texts, ours.number,
       round(100 * ours.number / ours.texts, 1) AS percent, paper.percent AS paper_percent, paper.name AS paper_name
FROM ours FULL JOIN analysis.augesc_paper_table_1 AS paper
  ON ours.method = paper.method AND ours.source = paper.source AND ours.requirement = paper.requirement
JOIN requirements ON requirements.requirement = coalesce(ours.requirement, paper.requirement)
ORDER BY method, source, place
