-- EDOS Table 9 by first turns: each label's share of dialogues, beside the paper's, with and without some labels.
--
-- share and paper_share are of all dialogues. The emotional ones leave out what opens without an emotion, neutral and
-- questioning, which have 36% of the paper's openings: shares of the rest compare although one choice left them out and
-- another did not. weak_share is by the weak labels of the chosen dialogues' first turns.
WITH counted AS (
  SELECT table_9.place, table_9.label, table_9.dialogues, paper_dialogues, coalesce(weak.dialogues, 0L) AS weak_dialogues,
         table_9.label IN ('neutral', 'questioning') AS unemotional
  FROM analysis.edos_table_9 AS table_9
  LEFT JOIN (
    SELECT weak.label, count(*) AS dialogues
    FROM edos.initial AS chosen
    JOIN edos.weak_labels AS weak ON weak.dialogue_id = chosen.dialogue_id AND weak.turn = 0
    GROUP BY weak.label
  ) AS weak ON weak.label = table_9.label
  WHERE table_9.label <> 'total'
)
SELECT place, label, dialogues, round(try_divide(dialogues, sum(dialogues) OVER ()), 6) AS share,
       paper_dialogues, round(try_divide(paper_dialogues, sum(paper_dialogues) OVER ()), 6) AS paper_share,
       CASE WHEN NOT unemotional
            THEN round(try_divide(dialogues, sum(IF(unemotional, 0, dialogues)) OVER ()), 6) END AS share_of_emotional,
       CASE WHEN NOT unemotional
            THEN round(try_divide(paper_dialogues, sum(IF(unemotional, 0, paper_dialogues)) OVER ()), 6) END
         AS paper_share_of_emotional,
       weak_dialogues, round(try_divide(weak_dialogues, sum(weak_dialogues) OVER ()), 6) AS weak_share
FROM counted ORDER BY place
