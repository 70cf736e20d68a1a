-- What each cleaning rule removes: turns, the turns after them, the dialogues that it touches and those that it drops.
--
-- rule: reason of the cleaning rule in ops.dropped
-- turns: turns that the rule itself removed
-- turns_after: turns removed because they follow such a turn (EDOS 3.1)
-- dialogues: dialogues that lost a turn in one of these ways
-- dialogues_dropped: dialogues, or parts of one that was cut, that the rule dropped as a whole
-- turns_of_dialogues: turns of the dialogues that it dropped as a whole
-- all_turns: turns that it cost in all; over all rules these add up to what cleaning left out
WITH gone AS (
  SELECT unit, split_part(id, '/', 1) AS dialogue_id, units, reason = 'after_removed_turn' AS follows,
         CASE WHEN reason = 'after_removed_turn' THEN regexp_extract(detail, 'went: (.*)$', 1) ELSE reason END AS rule
  FROM ops.dropped WHERE stage IN ('filter_dialogues', 'clean_dialogues') AND unit IN ('turn', 'dialogue')
)
SELECT rule,
       sum(CASE WHEN unit = 'turn' AND NOT follows THEN units ELSE 0 END) AS turns,
       sum(CASE WHEN follows THEN units ELSE 0 END) AS turns_after,
       count(DISTINCT CASE WHEN unit = 'turn' THEN dialogue_id END) AS dialogues,
       sum(CASE WHEN unit = 'dialogue' THEN 1 ELSE 0 END) AS dialogues_dropped,
       sum(CASE WHEN unit = 'dialogue' THEN units ELSE 0 END) AS turns_of_dialogues,
       sum(units) AS all_turns
FROM gone GROUP BY rule ORDER BY all_turns DESC, rule
