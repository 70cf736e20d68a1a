-- EDOS Figure 3: how often a label follows another over the first four turns.
--
-- corpus: EDOS: ours; or EmpatheticDialogues
-- position: number of the turn that has the label, 1 to 3
-- label: label of that turn
-- to_label: label of the next turn; null: the dialogue ends
-- dialogues: dialogues in which the one follows the other there
WITH lines AS (
  SELECT 'EDOS' AS corpus, transform(turns, turn -> turn.label) AS labels FROM edos.dialogues
  UNION ALL
  SELECT 'EmpatheticDialogues', transform(array_sort(collect_list(struct(turn, label))), line -> line.label)
  FROM edos.empathetic_turns GROUP BY dialogue_id
), steps AS (
  SELECT corpus, position, get(labels, position - 1) AS label, get(labels, position) AS to_label
  FROM lines LATERAL VIEW explode(sequence(1, 3)) AS position WHERE position <= size(labels)
)
SELECT corpus, position, label, to_label, count(*) AS dialogues
FROM steps GROUP BY corpus, position, label, to_label ORDER BY corpus, position, dialogues DESC, label, to_label
