-- Emo Pillars C: examples from the first so many plots.
--
-- plots: plots that are counted, the first by the hashes of their ids, in steps of 200
-- actors: characters of these plots that have an example
-- examples: examples from these plots
-- labels: labels of these examples, one for each emotion of each
-- paper_contextual_f1: the paper's macro-F1 of contextual RoBERTa on the data's own test set; null: not given
-- paper_goemotions_f1: the paper's macro-F1 of BERT tuned on GoEmotions; null: not given
--
-- The paper gives macro-F1 at 200 and at 2,000 plots.
WITH ranked AS (
  SELECT plot_id, CAST(ceil(row_number() OVER (ORDER BY md5(plot_id), plot_id) / 200) AS int)
    * 200 AS up_to
  FROM emo_pillars.plots
), made AS (
  SELECT plot_id, count(DISTINCT actor_id) AS actors, count(*) AS examples, sum(size(labels)) AS labels
  FROM emo_pillars.examples GROUP BY plot_id
), steps AS (
  SELECT up_to, count(*) AS plots, sum(actors) AS actors, sum(examples) AS examples, sum(labels) AS labels
  FROM ranked LEFT JOIN made ON made.plot_id = ranked.plot_id GROUP BY up_to
)
SELECT sum(plots) OVER (ORDER BY up_to) AS plots, coalesce(sum(actors) OVER (ORDER BY up_to), 0) AS actors,
       coalesce(sum(examples) OVER (ORDER BY up_to), 0) AS examples,
       coalesce(sum(labels) OVER (ORDER BY up_to), 0) AS labels,
       CASE up_to WHEN 200 THEN 0.77D WHEN 2000 THEN 0.79D END AS paper_contextual_f1,
       CASE up_to WHEN 200 THEN 0.50D WHEN 2000 THEN 0.54D END AS paper_goemotions_f1
FROM steps ORDER BY plots
