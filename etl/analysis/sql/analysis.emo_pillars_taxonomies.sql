-- Each of EDOS's 41 labels with the three of the 28 that go with it most above chance (not in the paper).
WITH ranked AS (
  SELECT *, row_number() OVER (PARTITION BY edos_label ORDER BY pmi DESC, label) AS place,
         row_number() OVER (PARTITION BY label ORDER BY pmi DESC, edos_label) AS place_of_edos
  FROM emo_pillars.taxonomy_map
)
SELECT edos_label, place, label, turns, edos_turns, label_turns, share_of_edos, share_of_label, lift, pmi,
       place = 1 AND place_of_edos = 1 AS mutual
FROM ranked WHERE place <= 3 ORDER BY edos_label, place
