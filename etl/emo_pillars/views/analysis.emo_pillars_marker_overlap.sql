-- Emo Pillars G: which emotions share markers; groups of emotions are read from it.
--
-- label: emotion that comes first in the alphabet
-- other_label: emotion that shares markers with it
-- shared: markers of both emotions
-- overlap: shared markers over the markers of either emotion, 0 to 1
WITH own AS (SELECT label, collect_set(word) AS words FROM emo_pillars.markers GROUP BY label)
SELECT one.label, other.label AS other_label, size(array_intersect(one.words, other.words)) AS shared,
       round(size(array_intersect(one.words, other.words)) / size(array_union(one.words, other.words)), 4) AS overlap
FROM own AS one JOIN own AS other ON one.label < other.label
WHERE size(array_intersect(one.words, other.words)) > 0 ORDER BY overlap DESC, one.label, other.label
