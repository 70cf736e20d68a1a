-- Emo Pillars C: examples from the first so many plots.
--
-- The paper's macro-F1 at 200 and 2,000 plots: contextual RoBERTa on the data's own test set, tuned BERT on GoEmotions.
-- From 200 plots on in steps of 200, in the order of the hashes of their ids.
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
