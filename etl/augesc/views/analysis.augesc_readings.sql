-- AugESC 4.3: texts by requirement, as they were read and as the paper's words for a line have it.
--
-- reading: read: as augesc.reading had it; paper: each line is one utterance and begins with a name
-- method: what wrote the texts: augmenter, untuned, role_models or people
-- source: ed, reddit: where the queries come from; esconv, failed_esconv: sessions of people
-- texts: texts of method and source
-- format: texts that violate Format
-- session_length: texts that violate Session Length
-- utterances: texts that violate Total Utterance Number
-- continuous: texts that violate Continuous Utterance Number
-- balance: texts that violate Balanced Utterance Number
-- role_words: texts that violate Role Words
-- seeker_length: texts that violate Seeker Utterance Length
-- supporter_length: texts that violate Supporter Utterance Length
-- kept: texts that violate nothing
--
-- The paper's reading is there once augesc_check_paper_reading has run.
SELECT 'read' AS reading, method, source, count(*) AS texts, count_if(format) AS format,
       count_if(session_length) AS session_length, count_if(utterances) AS utterances,
       count_if(continuous) AS continuous, count_if(balance) AS balance, count_if(role_words) AS role_words,
       count_if(seeker_length) AS seeker_length, count_if(supporter_length) AS supporter_length, count_if(kept) AS kept
FROM augesc.violations GROUP BY method, source
UNION ALL /* where it is there */
SELECT 'paper' AS reading, method, source, count(*) AS texts, count_if(format) AS format,
       count_if(session_length) AS session_length, count_if(utterances) AS utterances,
       count_if(continuous) AS continuous, count_if(balance) AS balance, count_if(role_words) AS role_words,
       count_if(seeker_length) AS seeker_length, count_if(supporter_length) AS supporter_length, count_if(kept) AS kept
FROM augesc.paper_reading GROUP BY method, source
