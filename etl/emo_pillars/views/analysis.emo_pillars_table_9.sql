-- Emo Pillars Table 9: groups of emotions that share markers, with their markers and the ratios of these; the paper's beside.
--
-- place: number of the group, the largest is 1; null: only the paper has the group
-- polarity: polarity of most emotions of the group
-- emotions: emotions of the group, joined by commas
-- markers: adverbs that two or more emotions of the group share
-- words: up to ten of these with the group's part of their use, 0 to 1, the highest first
-- shared: emotions that are in the group and in the paper's beside it
-- paper_polarity: polarity of the paper's group with most emotions of ours; null: none has any
-- paper_emotions: emotions of that group
-- paper_words: its printed adverbs with their ratios
WITH polarity AS (
  SELECT members.place, polarities.polarity, count(*) AS number
  FROM (SELECT DISTINCT place, explode(emotions) AS label FROM emo_pillars.marker_groups) AS members
  JOIN analysis.emo_pillars_polarities AS polarities ON polarities.label = members.label
  GROUP BY members.place, polarities.polarity
), most AS (
  SELECT place, max_by(polarity, struct(number, polarity)) AS polarity FROM polarity GROUP BY place
), ours AS (
  SELECT groups.place, polarity, array_join(first(emotions), ', ') AS emotions, count(*) AS markers,
         array_join(transform(slice(sort_array(collect_list(struct(-ratio AS order, word, ratio))), 1, 10),
                              one -> concat(one.word, ' (', format_number(one.ratio, 2), ')')), ', ') AS words
  FROM emo_pillars.marker_groups AS groups JOIN most ON most.place = groups.place
  GROUP BY groups.place, polarity
), alike AS (
  SELECT ours.place, printed.place AS printed_place,
         size(array_intersect(split(ours.emotions, ', '), split(printed.emotions, ', '))) AS shared
  FROM ours CROSS JOIN analysis.emo_pillars_paper_table_9 AS printed
), nearest AS (
  SELECT place, max_by(printed_place, struct(shared, -printed_place)) AS printed_place, max(shared) AS shared
  FROM alike WHERE shared > 0 GROUP BY place
), placed AS (
  SELECT ours.*, printed_place, shared FROM ours LEFT JOIN nearest ON nearest.place = ours.place
)
SELECT placed.place, placed.polarity, placed.emotions, markers, placed.words, shared, paper.polarity AS paper_polarity,
       paper.emotions AS paper_emotions, paper.words AS paper_words
FROM placed FULL JOIN analysis.emo_pillars_paper_table_9 AS paper ON paper.place = printed_place
ORDER BY placed.place NULLS LAST, paper.place
