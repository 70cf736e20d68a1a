-- AugESC Figure 5: different bigrams by number of conversations.
--
-- data_set: esconv, failed_esconv: sessions of people; ed, reddit, total of both: conversations
-- sessions: number of conversations that are counted, the first by the hashes of their ids
-- unique_bigrams: distinct pairs of neighbouring words in them
SELECT data_set, sessions, unique_bigrams FROM augesc.bigram_growth ORDER BY data_set, sessions
