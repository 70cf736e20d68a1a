-- EDOS Table 10: parameters, epochs, time and validation perplexity of each generator, the paper's beside.
--
-- uniform_perplexity is the floor: every token of the vocabulary equally likely.
SELECT paper.generator, ours.parameters, ours.best_epoch AS epochs, ours.epochs AS epochs_run,
       round(ours.seconds / 3600, 2) AS hours, round(ours.validation_perplexity, 2) AS validation_perplexity,
       round(ours.validation_word_perplexity, 1) AS validation_word_perplexity,
       CAST(paper.parameters AS bigint) AS paper_parameters, paper.epochs AS paper_epochs,
       round(paper.seconds / 3600, 2) AS paper_hours,
       paper.perplexity AS paper_validation_perplexity, ours.tokens AS uniform_perplexity
FROM analysis.edos_paper_table_10 AS paper
LEFT JOIN replies.trainings AS ours ON ours.generator = paper.generator ORDER BY paper.place
