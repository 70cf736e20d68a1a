-- AugESC Table 2: sizes, lengths and distinct words by set and role; the paper's beside ours.
--
-- data_set: esconv, failed_esconv: sessions of people; ed, reddit, total of both: conversations
-- role: seeker or supporter; both: of whole conversations
-- measure: what is measured: sessions, utterances, lengths in tokens, distinct words
-- value: of our set; null: there is none
-- paper: of the paper's set; null: not in its table
--
-- Lengths are in NLTK tokens, supporters' greetings removed.
SELECT coalesce(ours.data_set, paper.data_set) AS data_set, coalesce(ours.role, paper.role) AS role,
       coalesce(ours.measure, paper.measure) AS measure, round(ours.value, 1) AS value, paper.value AS paper
FROM augesc.statistics AS ours FULL JOIN analysis.augesc_paper_table_2 AS paper
  ON ours.data_set = paper.data_set AND ours.role = paper.role AND ours.measure = paper.measure
ORDER BY coalesce(paper.place, 99), data_set, role, measure
