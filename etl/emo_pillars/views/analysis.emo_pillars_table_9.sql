-- Emo Pillars Table 9: groups of emotions that share markers, with their markers and the ratios of these.
--
-- place: number of the group, the largest is 1
-- polarity: polarity of most emotions of the group
-- emotions: emotions of the group, joined by commas
-- markers: adverbs that two or more emotions of the group share
-- words: up to ten of these with the group's part of their use, 0 to 1, the highest first
WITH polarity AS (
  SELECT members.place, polarities.polarity, count(*) AS number
  FROM (SELECT DISTINCT place, explode(emotions) AS label FROM emo_pillars.marker_groups) AS members
  JOIN analysis.emo_pillars_polarities AS polarities ON polarities.label = members.label
  GROUP BY members.place, polarities.polarity
), most AS (
  SELECT place, max_by(polarity, struct(number, polarity)) AS polarity FROM polarity GROUP BY place
)
SELECT groups.place, polarity, array_join(first(emotions), ', ') AS emotions, count(*) AS markers,
       array_join(transform(slice(sort_array(collect_list(struct(-ratio AS order, word, ratio))), 1, 10),
                            one -> concat(one.word, ' (', format_number(one.ratio, 2), ')')), ', ') AS words
FROM emo_pillars.marker_groups AS groups JOIN most ON most.place = groups.place
GROUP BY groups.place, polarity ORDER BY groups.place
