-- Emo Pillars 5: every trial's scores by class, all tasks'.
--
-- task: labelled set: synthetic, goemotions, isear or emocontext
-- trial: id of the trial, a hash of all that it depends on
-- model: key under models that it starts from, or an encoder's URI
-- tuned: trained on the task; false: used as it is
-- variant: EmoContext's class others in training: kept, relabelled or typed; null: elsewhere
-- seed: seed of the training
-- fold: fold that is measured on; null: no folds
-- scored: classes that are scored, and the rule that makes one a prediction
-- class: class that the scores are of; macro or micro: the average of all
-- precision: share of the predictions of the class that are right, 0 to 1
-- recall: share of the test rows of the class that are found, 0 to 1
-- f1: harmonic mean of precision and recall, 0 to 1
-- support: test rows that have the class
-- predicted: test rows that are given the class
-- threshold: probability from which a label is given
-- train_rows: rows trained on
-- validation_rows: rows that chose the epoch or the threshold
-- test_rows: rows that the scores are of
-- epochs: epochs that were trained
-- seconds: time of the training in seconds
-- starts_from: identity of the model that the training starts from
-- run_id: id of the run in MLflow
--
-- Those of a task are there once its table is.
SELECT 'synthetic' AS task, trial, model, tuned, variant, seed, fold, scored, class, precision, recall, f1, support, predicted,
       threshold, train_rows, validation_rows, test_rows, epochs, seconds, starts_from, run_id
FROM emo_pillars.encoder_results
UNION ALL /* where it is there */
SELECT 'goemotions' AS task, trial, model, tuned, variant, seed, fold, scored, class, precision, recall, f1, support, predicted,
       threshold, train_rows, validation_rows, test_rows, epochs, seconds, starts_from, run_id
FROM emo_pillars.goemotions_results
UNION ALL /* where it is there */
SELECT 'isear' AS task, trial, model, tuned, variant, seed, fold, scored, class, precision, recall, f1, support, predicted,
       threshold, train_rows, validation_rows, test_rows, epochs, seconds, starts_from, run_id
FROM emo_pillars.isear_results
UNION ALL /* where it is there */
SELECT 'emocontext' AS task, trial, model, tuned, variant, seed, fold, scored, class, precision, recall, f1, support, predicted,
       threshold, train_rows, validation_rows, test_rows, epochs, seconds, starts_from, run_id
FROM emo_pillars.emocontext_results
