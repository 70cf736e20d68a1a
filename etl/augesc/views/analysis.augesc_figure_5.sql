-- AugESC Figure 5: different bigrams by number of conversations.
SELECT data_set, sessions, unique_bigrams FROM augesc.bigram_growth ORDER BY data_set, sessions
