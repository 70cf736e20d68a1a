-- Emo Pillars 4, 7: the data set's size, the paper's beside ours.
--
-- place: order of the rows
-- criterion: what value and paper are
-- value: of our data set; null: there is nothing to count
-- paper: of the paper's data set
--
-- A row is there once its table is, those of GoEmotions where it was read. The shares of positive, negative and ambiguous
-- labels are of those that are not neutral.
SELECT 1 AS place, 'plots' AS criterion,
       round(CAST(count(*) AS double), 4) AS value, 2000D AS paper
FROM emo_pillars.plots
UNION ALL /* where it is there */
SELECT 2 AS place, 'actors a plot, mean' AS criterion,
       round(CAST(avg(actors) AS double), 4) AS value, 15D AS paper
FROM (SELECT plot_id, count(*) AS actors FROM emo_pillars.actors GROUP BY plot_id)
UNION ALL /* where it is there */
SELECT 3 AS place, 'actors a plot, standard deviation' AS criterion,
       round(CAST(stddev(actors) AS double), 4) AS value, 9.44D AS paper
FROM (SELECT plot_id, count(*) AS actors FROM emo_pillars.actors GROUP BY plot_id)
UNION ALL /* where it is there */
SELECT 4 AS place, 'utterances an actor, mean' AS criterion,
       round(CAST(try_divide(count(*), count(DISTINCT actor_id)) AS double), 4) AS value, 10D AS paper
FROM emo_pillars.utterances
UNION ALL /* where it is there */
SELECT 5 AS place, 'examples' AS criterion,
       round(CAST(count(*) AS double), 4) AS value, 300000D AS paper
FROM emo_pillars.examples
UNION ALL /* where it is there */
SELECT 6 AS place, 'share of examples drawn for contexts' AS criterion,
       round(CAST(avg(CAST(needs_context AS int)) AS double), 4) AS value, 0.3333D AS paper
FROM emo_pillars.examples
UNION ALL /* where it is there */
SELECT 7 AS place, 'contextual examples' AS criterion,
       round(CAST(count(*) AS double), 4) AS value, 100000D AS paper
FROM emo_pillars.contextual_examples
UNION ALL /* where it is there */
SELECT 8 AS place, 'labels' AS criterion,
       round(CAST(sum(size(labels)) AS double), 4) AS value, 1000000D AS paper
FROM emo_pillars.examples
UNION ALL /* where it is there */
SELECT 9 AS place, 'labels an example, mean' AS criterion,
       round(CAST(avg(size(labels)) AS double), 4) AS value, 3.17D AS paper
FROM emo_pillars.examples
UNION ALL /* where it is there */
SELECT 10 AS place, 'labels an example, standard deviation' AS criterion,
       round(CAST(stddev(size(labels)) AS double), 4) AS value, 0.97D AS paper
FROM emo_pillars.examples
UNION ALL /* where it is there */
SELECT 11 AS place, 'labels an example, least' AS criterion,
       round(CAST(min(size(labels)) AS double), 4) AS value, 1D AS paper
FROM emo_pillars.examples
UNION ALL /* where it is there */
SELECT 12 AS place, 'labels an example, most' AS criterion,
       round(CAST(max(size(labels)) AS double), 4) AS value, 5D AS paper
FROM emo_pillars.examples
UNION ALL /* where it is there */
SELECT 13 AS place, 'share of positive labels' AS criterion,
       round(CAST(avg(CAST(polarity = 'positive' AS int)) AS double), 4) AS value, 0.33D AS paper
FROM (SELECT explode(labels) AS one FROM emo_pillars.examples)
JOIN analysis.emo_pillars_polarities AS polarities ON polarities.label = one.label AND polarity <> 'neutral'
UNION ALL /* where it is there */
SELECT 14 AS place, 'share of negative labels' AS criterion,
       round(CAST(avg(CAST(polarity = 'negative' AS int)) AS double), 4) AS value, 0.48D AS paper
FROM (SELECT explode(labels) AS one FROM emo_pillars.examples)
JOIN analysis.emo_pillars_polarities AS polarities ON polarities.label = one.label AND polarity <> 'neutral'
UNION ALL /* where it is there */
SELECT 15 AS place, 'share of ambiguous labels' AS criterion,
       round(CAST(avg(CAST(polarity = 'ambiguous' AS int)) AS double), 4) AS value, 0.19D AS paper
FROM (SELECT explode(labels) AS one FROM emo_pillars.examples)
JOIN analysis.emo_pillars_polarities AS polarities ON polarities.label = one.label AND polarity <> 'neutral'
UNION ALL /* where it is there */
SELECT 16 AS place, 'share of neutral labels' AS criterion,
       round(CAST(avg(CAST(polarity = 'neutral' AS int)) AS double), 4) AS value, 0.027D AS paper
FROM (SELECT explode(labels) AS one FROM emo_pillars.examples)
JOIN analysis.emo_pillars_polarities AS polarities ON polarities.label = one.label
UNION ALL /* where it is there */
SELECT 17 AS place, 'share of examples with neutral' AS criterion,
       round(CAST(avg(CAST(array_contains(transform(labels, one -> one.label), neutral.label) AS int)) AS double), 4)
         AS value, 0.09D AS paper
FROM emo_pillars.examples
JOIN analysis.emo_pillars_polarities AS neutral ON neutral.polarity = 'neutral'
UNION ALL /* where it is there */
SELECT 18 AS place, 'share of positive labels in GoEmotions' AS criterion,
       round(CAST(avg(CAST(polarity = 'positive' AS int)) AS double), 4) AS value, 0.54D AS paper
FROM (SELECT explode(labels) AS label FROM emo_pillars.goemotions) AS said
JOIN analysis.emo_pillars_polarities AS polarities ON polarities.label = said.label AND polarity <> 'neutral'
UNION ALL /* where it is there */
SELECT 19 AS place, 'share of negative labels in GoEmotions' AS criterion,
       round(CAST(avg(CAST(polarity = 'negative' AS int)) AS double), 4) AS value, 0.30D AS paper
FROM (SELECT explode(labels) AS label FROM emo_pillars.goemotions) AS said
JOIN analysis.emo_pillars_polarities AS polarities ON polarities.label = said.label AND polarity <> 'neutral'
UNION ALL /* where it is there */
SELECT 20 AS place, 'share of ambiguous labels in GoEmotions' AS criterion,
       round(CAST(avg(CAST(polarity = 'ambiguous' AS int)) AS double), 4) AS value, 0.16D AS paper
FROM (SELECT explode(labels) AS label FROM emo_pillars.goemotions) AS said
JOIN analysis.emo_pillars_polarities AS polarities ON polarities.label = said.label AND polarity <> 'neutral'
UNION ALL /* where it is there */
SELECT 21 AS place, 'labels of an emotion over those in GoEmotions, mean' AS criterion,
       round(CAST(avg(try_divide(made, known)) AS double), 4) AS value, 50D AS paper
FROM (SELECT one.label, count(*) AS made FROM emo_pillars.examples LATERAL VIEW explode(labels) AS one GROUP BY one.label) AS ours
JOIN (SELECT label, count(*) AS known FROM emo_pillars.goemotions LATERAL VIEW explode(labels) AS label GROUP BY label) AS theirs
  ON theirs.label = ours.label
JOIN analysis.emo_pillars_polarities AS polarities ON polarities.label = ours.label AND polarity <> 'neutral'
