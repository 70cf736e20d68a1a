-- Emotions out of the taxonomy, and what they count as.
SELECT raw_label, label, count(*) AS rows, round(avg(level), 4) AS mean_level
FROM emo_pillars.soft_labels WHERE was_mapped GROUP BY raw_label, label ORDER BY rows DESC, raw_label
