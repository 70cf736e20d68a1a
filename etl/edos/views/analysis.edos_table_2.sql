-- EDOS Table 2: other data sets' sizes, the paper's EDOS and ours.
--
-- place: order of the rows
-- dataset: name of the data set
-- labels: different labels of the set; of ours: labels of the taxonomy, whether they occur or not
-- dialogues: dialogues of the set
-- utterances: utterances, or turns, of the set
-- publicly_available: everybody can get the set; null for ours
--
-- The paper's 3,488,300 utterances disagree with its Tables 3 and 9.
SELECT place, dataset, labels, dialogues, utterances, publicly_available FROM analysis.edos_paper_table_2
UNION ALL
SELECT 9, 'EDOS, ours', labels, dialogues, utterances, NULL
FROM (SELECT CAST(count(*) AS int) AS labels FROM analysis.edos_taxonomy)
CROSS JOIN (SELECT count(*) AS dialogues, coalesce(sum(size(turns)), 0) AS utterances FROM edos.dialogues)
ORDER BY place
