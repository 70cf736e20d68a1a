-- Kinds of labels and their valence by turn, from the first to the tenth: whether emotions de-escalate (EDOS 4).
--
-- The paper says that in both sets emotions give way to intents as dialogues go on, without numbers. all_lengths is
-- false for the first four turns of dialogues of at least four: there, no share moves because short dialogues end. The valence of the 32 emotions is ours: surprised, sentimental and nostalgic have none. valence is the
-- mean over the turns with an emotion that has one, from -1 to 1.
WITH lines AS (
  SELECT 'EDOS' AS corpus, turns.label AS labels FROM edos.dialogues
  UNION ALL
  SELECT 'EmpatheticDialogues', transform(array_sort(collect_list(struct(turn, label))), line -> line.label)
  FROM edos.empathetic_turns GROUP BY dialogue_id
), labelled AS (
  SELECT corpus, place + 1 AS position, size(labels) AS length, label
  FROM lines LATERAL VIEW posexplode(labels) AS place, label WHERE place < 10
), valued AS (
  SELECT corpus, position, length, kind,
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
SELECT corpus, all_lengths, position, count(*) AS turns,
       round(avg(CAST(kind = 'emotion' AS int)), 4) AS emotions, round(avg(CAST(kind = 'intent' AS int)), 4) AS intents,
       round(avg(CAST(kind = 'neutral' AS int)), 4) AS neutral,
       round(avg(CAST(coalesce(valence, 0) > 0 AS int)), 4) AS positive,
       round(avg(CAST(coalesce(valence, 0) < 0 AS int)), 4) AS negative, round(avg(valence), 4) AS valence
FROM chosen GROUP BY corpus, all_lengths, position ORDER BY corpus, all_lengths DESC, position
