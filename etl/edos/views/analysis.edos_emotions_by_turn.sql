-- Kinds of labels and their valence by turn, from the first to the tenth: whether emotions de-escalate (EDOS 4).
--
-- corpus: EDOS: ours; EmpatheticDialogues; paper: the paper's EDOS
-- all_lengths: true: dialogues of all lengths; false: turns 1 to 4 of dialogues of at least four
-- position: number of the turn in its dialogue, 1 to 10; of the paper 1: first turns, 2: all others
-- turns: turns at that position
-- emotions: share of these turns whose label is an emotion
-- intents: share of these turns whose label is an intent
-- neutral: share of these turns whose label is neutral
-- positive: share of these turns with an emotion of positive valence
-- negative: share of these turns with an emotion of negative valence
-- valence: mean over the turns of positive (1) or negative (-1) valence; null: none
--
-- The paper says that in both sets emotions give way to intents as dialogues go on, without numbers. Without short
-- dialogues (all_lengths false), no share moves because dialogues end. The corpus paper is its Table 9. The valence of
-- the 32 emotions is ours: surprised, sentimental and nostalgic have none.
WITH lines AS (
  SELECT 'EDOS' AS corpus, transform(turns, turn -> turn.label) AS labels FROM edos.dialogues
  UNION ALL
  SELECT 'EmpatheticDialogues', transform(array_sort(collect_list(struct(turn, label))), line -> line.label)
  FROM edos.empathetic_turns GROUP BY dialogue_id
), labelled AS (
  SELECT corpus, place + 1 AS position, size(labels) AS length, label, 1L AS turns
  FROM lines LATERAL VIEW posexplode(labels) AS place, label WHERE place < 10
  UNION ALL
  SELECT 'paper', position, 0, label, IF(position = 1, dialogues, turns - dialogues)
  FROM analysis.edos_paper_table_9 LATERAL VIEW explode(array(1, 2)) AS position
), valued AS (
  SELECT corpus, position, length, labelled.turns, kind,
         CASE
           WHEN labelled.label IN ('prepared', 'anticipating', 'hopeful', 'proud', 'excited', 'joyful', 'content', 'caring',
           'grateful', 'trusting', 'confident', 'faithful', 'impressed')
             THEN 1
           WHEN labelled.label IN ('terrified', 'afraid', 'apprehensive', 'anxious', 'embarrassed', 'ashamed', 'devastated',
           'sad', 'disappointed', 'lonely', 'guilty', 'disgusted', 'furious', 'angry', 'annoyed',
           'jealous')
             THEN -1
         END AS valence
  FROM labelled LEFT JOIN analysis.edos_taxonomy AS taxonomy ON taxonomy.label = labelled.label
), chosen AS (
  SELECT true AS all_lengths, * FROM valued
  UNION ALL SELECT false, * FROM valued WHERE length >= 4 AND position <= 4
)
SELECT corpus, all_lengths, position, sum(turns) AS turns,
       round(coalesce(sum(turns) FILTER (WHERE kind = 'emotion'), 0) / sum(turns), 4) AS emotions,
       round(coalesce(sum(turns) FILTER (WHERE kind = 'intent'), 0) / sum(turns), 4) AS intents,
       round(coalesce(sum(turns) FILTER (WHERE kind = 'neutral'), 0) / sum(turns), 4) AS neutral,
       round(coalesce(sum(turns) FILTER (WHERE valence > 0), 0) / sum(turns), 4) AS positive,
       round(coalesce(sum(turns) FILTER (WHERE valence < 0), 0) / sum(turns), 4) AS negative,
       round(sum(turns * valence) / sum(turns) FILTER (WHERE valence IS NOT NULL), 4) AS valence
FROM chosen GROUP BY corpus, all_lengths, position ORDER BY corpus, all_lengths DESC, position
