-- EDOS Figure 2: each label's share of turns; the paper's and EmpatheticDialogues' beside ours.
--
-- place: place of the label in the taxonomy, from 0
-- label: name of the label
-- kind: emotion, intent or neutral
-- turns: finished turns of EDOS with the label
-- accepted_turns: turns among them whose label is accepted (edos.label_thresholds); null: unknown, or no turns
-- share: share of all finished turns; null: there are none
-- paper_turns: turns of the paper's EDOS with the label (Table 9); null: a label that it does not have
-- paper_share: share of all turns of the paper's EDOS; null as paper_turns
-- empathetic_turns: turns of EmpatheticDialogues with the label, by a classifier
-- empathetic_share: share of all turns of EmpatheticDialogues; null: there are none
WITH ours AS (
  SELECT line.label AS label, count(*) AS turns, sum(CAST(get(accepted, turn) AS bigint)) AS accepted_turns
  FROM edos.dialogues LATERAL VIEW posexplode(turns) AS turn, line GROUP BY 1
), theirs AS (
  SELECT label, count(*) AS turns FROM edos.empathetic_turns GROUP BY 1
), counted AS (
  SELECT taxonomy.place, taxonomy.label, kind, coalesce(ours.turns, 0L) AS turns,
         CAST(ours.accepted_turns AS bigint) AS accepted_turns, CAST(paper.turns AS bigint) AS paper_turns, coalesce(theirs.turns, 0L) AS empathetic_turns
  FROM analysis.edos_taxonomy AS taxonomy
  LEFT JOIN ours ON ours.label = taxonomy.label
  LEFT JOIN theirs ON theirs.label = taxonomy.label
  LEFT JOIN analysis.edos_paper_table_9 AS paper ON paper.label = taxonomy.label
), totals AS (
  SELECT sum(turns) AS turns, sum(empathetic_turns) AS empathetic_turns FROM counted
), paper AS (
  SELECT sum(turns) AS turns FROM analysis.edos_paper_table_9
)
SELECT place, label, kind, counted.turns, accepted_turns, round(try_divide(counted.turns, totals.turns), 6) AS share,
       counted.paper_turns, round(try_divide(counted.paper_turns, paper.turns), 6) AS paper_share,
       counted.empathetic_turns,
       round(try_divide(counted.empathetic_turns, totals.empathetic_turns), 6) AS empathetic_share
FROM counted CROSS JOIN totals CROSS JOIN paper ORDER BY place
