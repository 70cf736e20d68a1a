-- Turns and tokens of a dialogue in the pool of clean dialogues and among those chosen as emotional (EDOS 3.1).
--
-- place: 1: before the choice; 2: after it
-- step: which dialogues
-- dialogues: dialogues of the step
-- turns: turns of these dialogues
-- turns_per_dialogue: turns of a dialogue, mean
-- paper_turns: turns of a dialogue in the paper, mean
-- tokens_per_turn: tokens of a turn, parted by blanks, mean
-- paper_tokens: tokens of a turn in the paper, mean; null: it does not say
-- two_turns: share of the dialogues with two turns
-- three_or_four_turns: share of the dialogues with three or four turns
-- more_turns: share of the dialogues with more than four turns
-- ratio: turns_per_dialogue before the choice over that of this row
-- paper_ratio: the same of the paper's means
--
-- The paper's pool has about 19 million turns in 4 million dialogues (3.1, 3.3), its EDOS 2.83 turns a dialogue (Table 3).
WITH dialogues AS (
  SELECT 1 AS place, 'before: clean dialogues' AS step, transform(turns, turn -> turn.text) AS texts,
         4.75D AS paper_turns, CAST(NULL AS double) AS paper_tokens
  FROM subtitles.clean_dialogues
  UNION ALL
  SELECT 2, 'after: chosen as emotional', turns, 2.83D, 13.95D FROM edos.initial
), counted AS (
  SELECT place, step, count(*) AS dialogues, sum(size(texts)) AS turns,
         sum(aggregate(texts, 0L, (n, text) -> n + size(split(text, ' ')))) AS tokens,
         avg(CAST(size(texts) = 2 AS int)) AS two_turns, avg(CAST(size(texts) BETWEEN 3 AND 4 AS int)) AS three_or_four,
         avg(CAST(size(texts) > 4 AS int)) AS more, any_value(paper_turns) AS paper_turns,
         any_value(paper_tokens) AS paper_tokens
  FROM dialogues GROUP BY place, step
)
SELECT place, step, dialogues, turns, round(turns / dialogues, 2) AS turns_per_dialogue, paper_turns,
       round(tokens / turns, 2) AS tokens_per_turn, paper_tokens, round(two_turns, 4) AS two_turns,
       round(three_or_four, 4) AS three_or_four_turns, round(more, 4) AS more_turns,
       round(first_value(turns / dialogues) OVER (ORDER BY place) / (turns / dialogues), 2) AS ratio,
       round(4.75D / paper_turns, 2) AS paper_ratio
FROM counted ORDER BY place
