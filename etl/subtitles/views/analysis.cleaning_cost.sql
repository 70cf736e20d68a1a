-- What each cleaning rule removes: turns, the turns after them, the dialogues that it touches and those that it drops.
--
-- turns: removed by the rule itself. turns_after: removed because they follow such a turn (EDOS 3.1). dialogues: in
-- which the rule removed a turn. dialogues_dropped: as a whole, with turns_of_dialogues turns.
WITH gone AS (
  SELECT unit, split_part(id, '/', 1) AS dialogue_id, units, reason = 'after_removed_turn' AS follows,
         CASE WHEN reason = 'after_removed_turn' THEN regexp_extract(detail, 'went: (.*)$', 1) ELSE reason END AS rule
  FROM ops.dropped WHERE stage = 'clean_dialogues' AND unit IN ('turn', 'dialogue')
)
SELECT rule,
       sum(CASE WHEN unit = 'turn' AND NOT follows THEN units ELSE 0 END) AS turns,
       sum(CASE WHEN follows THEN units ELSE 0 END) AS turns_after,
       count(DISTINCT CASE WHEN unit = 'turn' THEN dialogue_id END) AS dialogues,
       sum(CASE WHEN unit = 'dialogue' THEN 1 ELSE 0 END) AS dialogues_dropped,
       sum(CASE WHEN unit = 'dialogue' THEN units ELSE 0 END) AS turns_of_dialogues
FROM gone GROUP BY rule ORDER BY turns + turns_after + turns_of_dialogues DESC, rule
