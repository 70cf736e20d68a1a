-- EDOS Table 9: dialogues by their first turn's label and turns by label, the paper's beside ours.
--
-- place: place of the label in the taxonomy, from 0; 98: no label of it; 99: total
-- label: name of the label, or total
-- dialogues: finished dialogues whose first turn has the label
-- turns: finished turns with the label
-- paper_dialogues: dialogues of the paper's EDOS whose first turn has the label; null: not its label
-- paper_turns: turns of the paper's EDOS with the label; null: not its label
--
-- Every label of the taxonomy has a row.
WITH taxonomy AS (
  SELECT labels.place, labels.label, paper.dialogues AS paper_dialogues, paper.turns AS paper_turns
  FROM analysis.edos_taxonomy AS labels LEFT JOIN analysis.edos_paper_table_9 AS paper ON paper.label = labels.label
), firsts AS (
  SELECT get(turns, 0).label AS label, count(*) AS dialogues FROM edos.dialogues
  WHERE size(turns) > 0 GROUP BY 1
), turns AS (
  SELECT turn.label AS label, count(*) AS turns
  FROM edos.dialogues LATERAL VIEW explode(turns) AS turn GROUP BY 1
), counts AS (
  SELECT coalesce(taxonomy.place, 98) AS place,
         coalesce(taxonomy.label, turns.label, firsts.label, '(no label)') AS label,
         coalesce(firsts.dialogues, 0) AS dialogues, coalesce(turns.turns, 0) AS turns,
         IF(taxonomy.label IS NULL, 0, taxonomy.paper_dialogues) AS paper_dialogues,
         IF(taxonomy.label IS NULL, 0, taxonomy.paper_turns) AS paper_turns
  FROM taxonomy
  FULL JOIN turns ON turns.label <=> taxonomy.label
  FULL JOIN firsts ON firsts.label <=> coalesce(taxonomy.label, turns.label)
)
SELECT place, label, dialogues, turns, paper_dialogues, paper_turns FROM counts
UNION ALL
SELECT 99, 'total', coalesce(sum(dialogues), 0), coalesce(sum(turns), 0), sum(paper_dialogues), sum(paper_turns)
FROM counts
ORDER BY place
