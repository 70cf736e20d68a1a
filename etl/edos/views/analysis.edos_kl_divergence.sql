-- EDOS 4: KL divergence between label distributions in nats, half a count added to each label.
--
-- place: order of the rows
-- distribution: labels whose shares are p
-- reference: labels whose shares are q
-- nats: sum of p ln(p/q) over the labels; null: one of the two has no turns
-- paper: divergence that the paper gives; null: it gives none, or of other labels
--
-- The other way round is a row of its own. Half a count on every label of both (ours) leaves no share 0; on data of the
-- paper's size it moves the fifth decimal. The paper's Table 9 against the released labels gives 0.2675 so, where the paper says 0.2447. With other
-- labels than the paper's, what is compared with it is null.
WITH paper AS (
  SELECT count(*) AS labels FROM analysis.edos_paper_table_9
), totals AS (
  SELECT count(*) AS labels, sum(turns) AS turns, sum(paper_turns) AS paper_turns,
         sum(empathetic_turns) AS empathetic_turns,
         count(*) = any_value(paper.labels) AND count(paper_turns) = any_value(paper.labels) AS as_paper
  FROM analysis.edos_label_distribution CROSS JOIN paper
), shares AS (
  SELECT CASE WHEN totals.turns > 0 THEN (counted.turns + 0.5D) / (totals.turns + 0.5D * labels) END AS ours,
         CASE WHEN as_paper THEN (counted.paper_turns + 0.5D) / (totals.paper_turns + 0.5D * labels) END AS paper,
         CASE WHEN totals.empathetic_turns > 0
              THEN (counted.empathetic_turns + 0.5D) / (totals.empathetic_turns + 0.5D * labels) END AS empathetic
  FROM analysis.edos_label_distribution AS counted CROSS JOIN totals
), sums AS (
  SELECT sum(ours * ln(ours / empathetic)) AS ours_empathetic, sum(paper * ln(paper / empathetic)) AS paper_empathetic,
         sum(empathetic * ln(empathetic / ours)) AS empathetic_ours, sum(ours * ln(ours / paper)) AS ours_paper
  FROM shares
)
SELECT place, distribution, reference, round(nats, 4) AS nats, IF(place <= 2 AND as_paper, 0.2447D, NULL) AS paper
FROM (
  SELECT stack(4,
    1, 'EDOS, ours', 'EmpatheticDialogues', ours_empathetic,
    2, 'EDOS, the paper\'s Table 9', 'EmpatheticDialogues', paper_empathetic,
    3, 'EmpatheticDialogues', 'EDOS, ours', empathetic_ours,
    4, 'EDOS, ours', 'EDOS, the paper\'s Table 9', ours_paper
  ) AS (place, distribution, reference, nats) FROM sums
) CROSS JOIN totals ORDER BY place
