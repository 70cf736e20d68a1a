-- Emo Pillars Table 13: broad categories that a language model puts the large topics in; the paper's beside ours.
--
-- category: broad category of topics
-- topics: our topics of the category; null: none
-- utterances: utterances of these topics
-- names: names of these topics, joined by semicolons
-- paper_topics: topics of the category among the paper's 20 topics of joy; null: not in its table
WITH ours AS (
  SELECT lower(category) AS key, min(category) AS category, count(*) AS topics, sum(utterances) AS utterances,
         array_join(transform(sort_array(collect_list(struct(topic, name))), one -> one.name), '; ') AS names
  FROM analysis.emo_pillars_named_topics WHERE category IS NOT NULL GROUP BY lower(category)
)
SELECT coalesce(ours.category, paper.category) AS category, ours.topics, utterances, names, paper.topics AS paper_topics
FROM ours FULL JOIN analysis.emo_pillars_paper_table_13 AS paper ON lower(paper.category) = ours.key
ORDER BY ours.topics DESC NULLS LAST, paper.place, category
