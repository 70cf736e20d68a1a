-- Emo Pillars 5: every trial's scores by class, all tasks'.
--
-- Those of a task are there once its table is.
SELECT 'synthetic' AS task, * FROM emo_pillars.encoder_results
UNION ALL /* where it is there */
SELECT 'goemotions' AS task, * FROM emo_pillars.goemotions_results
UNION ALL /* where it is there */
SELECT 'isear' AS task, * FROM emo_pillars.isear_results
UNION ALL /* where it is there */
SELECT 'emocontext' AS task, * FROM emo_pillars.emocontext_results
