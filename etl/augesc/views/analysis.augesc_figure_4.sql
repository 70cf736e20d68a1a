-- AugESC Figure 4: the ten words most typical of each set's seekers and supporters; the paper's beside ours.
--
-- data_set: set that the word is typical of, such as esconv, ed or reddit
-- role: who says the word: seeker or supporter
-- rank: place among the set's words of the role, by z, 1 to 10
-- word: in lower case; null: only the paper has a word there
-- z: log-odds of the word in this set against the others, in standard deviations
-- highly_significant: z is above 3
-- number: times that the role says it in the set
-- others: times that the role says it in the other sets
-- paper_word: the paper's word of this rank
-- paper_z: its z, rounded, in the paper
WITH ours AS (SELECT * FROM augesc.typical_words WHERE rank <= 10)
SELECT coalesce(ours.data_set, paper.data_set) AS data_set, coalesce(ours.role, paper.role) AS role,
       coalesce(ours.rank, paper.rank) AS rank, ours.word, round(ours.z) AS z, ours.z > 3 AS highly_significant, number,
       others, paper.word AS paper_word, paper.z AS paper_z
FROM ours FULL JOIN analysis.augesc_paper_figure_4 AS paper
  ON paper.data_set = ours.data_set AND paper.role = ours.role AND paper.rank = ours.rank
ORDER BY role, data_set, rank
