-- AugESC Figure 4: the ten words most typical of each set's seekers and supporters.
SELECT data_set, role, rank, word, round(z) AS z, z > 3 AS highly_significant, number, others
FROM augesc.typical_words WHERE rank <= 10 ORDER BY role, data_set, rank
