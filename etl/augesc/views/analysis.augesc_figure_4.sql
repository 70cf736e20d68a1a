-- AugESC Figure 4: the ten words most typical of each set's seekers and supporters.
--
-- data_set: set that the word is typical of, such as esconv, ed or reddit
-- role: who says the word: seeker or supporter
-- rank: place among the set's words of the role, by z, 1 to 10
-- word: in lower case
-- z: log-odds of the word in this set against the others, in standard deviations
-- highly_significant: z is above 3
-- number: times that the role says it in the set
-- others: times that the role says it in the other sets
SELECT data_set, role, rank, word, round(z) AS z, z > 3 AS highly_significant, number, others
FROM augesc.typical_words WHERE rank <= 10 ORDER BY role, data_set, rank
