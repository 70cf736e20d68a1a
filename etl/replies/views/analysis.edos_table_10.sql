-- EDOS Table 10: parameters, epochs, time and validation perplexity of each generator, the paper's beside.
--
-- generator: training of the generator: pretrained, edos or empathetic
-- parameters: weights of our generator, shared ones counted once; null: not trained
-- epochs: epoch of the lowest validation loss, which was kept
-- epochs_run: epochs that were trained
-- hours: time of the training in hours
-- validation_perplexity: perplexity of a token of the validation replies
-- validation_word_perplexity: perplexity of a word of the validation replies, parted by blanks
-- paper_parameters: weights of the paper's generator
-- paper_epochs: epochs of the paper's training
-- paper_hours: time of the paper's training in hours
-- paper_validation_perplexity: perplexity of a token in the paper
-- uniform_perplexity: floor: perplexity of drawing each token alike, the size of the vocabulary
SELECT paper.generator, ours.parameters, ours.best_epoch AS epochs, ours.epochs AS epochs_run,
       round(ours.seconds / 3600, 2) AS hours, round(ours.validation_perplexity, 2) AS validation_perplexity,
       round(ours.validation_word_perplexity, 1) AS validation_word_perplexity,
       CAST(paper.parameters AS bigint) AS paper_parameters, paper.epochs AS paper_epochs,
       round(paper.seconds / 3600, 2) AS paper_hours,
       paper.perplexity AS paper_validation_perplexity, ours.tokens AS uniform_perplexity
FROM analysis.edos_paper_table_10 AS paper
LEFT JOIN replies.trainings AS ours ON ours.generator = paper.generator ORDER BY paper.place
