-- The figures under AugESC Table 2: conversations by utterances, utterances by length.
--
-- data_set: esconv, failed_esconv: sessions of people; ed, reddit: conversations, by their query
-- role: seeker or supporter
-- measure: what from_value is: utterances_per_session or utterance_length
-- from_value: utterances of the role in a session; tokens of an utterance, from this to 4 more
-- number: sessions, or utterances, with that value
-- share: their share of the sessions, or utterances, of data set and role
WITH said AS (
  SELECT source AS data_set, text_id AS session_id, turns FROM augesc.measured_texts WHERE method = 'people'
  UNION ALL SELECT source, conversation_id, turns FROM augesc.conversations
), lines AS (SELECT data_set, session_id, inline(turns) FROM said
), numbers AS (
  SELECT data_set, role, 'utterances_per_session' AS measure, count(*) AS value FROM lines
  GROUP BY data_set, role, session_id
  UNION ALL SELECT data_set, role, 'utterance_length', CAST(floor(tokens / 5) * 5 AS bigint) FROM lines
)
SELECT data_set, role, measure, value AS from_value, count(*) AS number,
       round(count(*) / sum(count(*)) OVER (PARTITION BY data_set, role, measure), 4) AS share
FROM numbers GROUP BY data_set, role, measure, value ORDER BY data_set, role, measure, from_value
