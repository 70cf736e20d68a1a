-- EDOS 3.1, 3.3: the trained models on held-out rows, in percent, the paper's figures beside ours, with encoder and epochs.
--
-- place: order of the rows
-- model: turn_segmenter, weak_labeler or emotion_classifier
-- figure: accuracy or macro-F1
-- value: of the newest model that was trained here, percent; null: none, or by a version that stored no figures
-- paper: what the paper prints, percent
-- rows: held-out pairs, sentences or turns that value is of; null as value
-- encoder: what our model started from; of the segmenter its kind; null: not trained here
-- epochs: passes over the training rows; null for the segmenter, and where nothing was trained
-- compared: how the rows of the two figures differ
--
-- The newest model is not the champion where an older one is better on validation rows. The authors' file of 3,225 test
-- sentences is read as classifier_test; without it the weak labeler's figure is of their 3,544 validation sentences.
WITH newest AS (
  SELECT stage, figures, settings, row_number() OVER (PARTITION BY stage ORDER BY started DESC) AS age
  FROM ops.stage_runs WHERE event = 'done' AND stage IN ('train_turn_segmenter', 'train_weak_labeler', 'train_emotion_classifier')
), printed AS (
  SELECT stack(4,
    1, 'turn_segmenter', 'accuracy', 76.69D, 'other pairs: the mean over our sources, without marks; the paper had subtitles aligned with scripts',
    2, 'weak_labeler', 'accuracy', 65.88D, 'the same rows where there are 3,225: the authors\' test file',
    3, 'emotion_classifier', 'macro_f1', 63.86D, 'another fifth of the crowd\'s turns',
    4, 'emotion_classifier', 'accuracy', 65.00D, 'another fifth of the crowd\'s turns'
  ) AS (place, model, figure, paper, compared)
)
SELECT printed.place, printed.model, printed.figure,
       round(100 * try_element_at(newest.figures, printed.figure), 2) AS value, printed.paper,
       CAST(try_element_at(newest.figures, 'rows') AS bigint) AS rows,
       replace(coalesce(try_element_at(newest.settings, 'training.turn_segmenter.kind'),
                        try_element_at(newest.settings, 'models.weak_encoder'),
                        try_element_at(newest.settings, 'models.encoder')), '"', '') AS encoder,
       CAST(try_element_at(newest.settings, concat('training.', printed.model, '.epochs')) AS int) AS epochs,
       printed.compared
FROM printed LEFT JOIN newest ON newest.stage = concat('train_', printed.model) AND newest.age = 1
ORDER BY printed.place
