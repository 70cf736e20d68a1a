-- Emo Pillars C: examples from the first so many plots, those that a smaller emo_pillars.plot_limit takes.
--
-- plots: plots that are counted, the first by the hash of their content, in steps of 200
-- actors: characters of these plots that have an example; null: only the paper has so many plots
-- examples: examples from these plots
-- labels: labels of these examples, one for each emotion of each
-- paper_contextual_f1: the paper's macro-F1 of contextual RoBERTa on the data's own test set; null: of other numbers of plots
-- paper_goemotions_f1: the paper's macro-F1 of BERT tuned on GoEmotions; null: of other numbers of plots
--
-- The paper gives macro-F1 of 200 and of 2,000 plots. A plot's id ends with the hash of its content.
WITH ranked AS (
  SELECT plot_id, CAST(ceil(row_number() OVER (ORDER BY right(plot_id, 12), plot_id) / 200) AS int)
    * 200 AS up_to
  FROM emo_pillars.plots
), made AS (
  SELECT plot_id, count(DISTINCT actor_id) AS actors, count(*) AS examples, sum(size(labels)) AS labels
  FROM emo_pillars.examples GROUP BY plot_id
), steps AS (
  SELECT up_to, count(*) AS plots, sum(actors) AS actors, sum(examples) AS examples, sum(labels) AS labels
  FROM ranked LEFT JOIN made ON made.plot_id = ranked.plot_id GROUP BY up_to
), ours AS (
  SELECT sum(plots) OVER (ORDER BY up_to) AS plots, coalesce(sum(actors) OVER (ORDER BY up_to), 0) AS actors,
         coalesce(sum(examples) OVER (ORDER BY up_to), 0) AS examples,
         coalesce(sum(labels) OVER (ORDER BY up_to), 0) AS labels
  FROM steps
), paper AS (
  SELECT * FROM VALUES (200L, 0.77D, 0.50D), (2000L, 0.79D, 0.54D) AS printed(plots, contextual_f1, goemotions_f1)
)
SELECT coalesce(ours.plots, paper.plots) AS plots, actors, examples, labels, contextual_f1 AS paper_contextual_f1,
       goemotions_f1 AS paper_goemotions_f1
FROM ours FULL JOIN paper ON paper.plots = ours.plots ORDER BY plots
