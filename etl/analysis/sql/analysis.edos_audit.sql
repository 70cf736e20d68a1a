-- The audit: precision of the finished labels by class and confidence band, with Wilson intervals.
--
-- A turn's verdict is what more than half of its answers say. Strata (label and band) were drawn alike, though they
-- are not alike in size. Each counts by its share of the finished turns, and the interval is Wilson's at 95 %
-- (z = 1.96) for the effective number of turns 1 / sum(share^2 / n). Within one stratum that is its own number.
WITH verdicts AS (
  SELECT batch_id, dialogue_id, turn, min(model_label) AS label, min(band) AS band, min(stratum_turns) AS stratum_turns,
         count_if(answer = model_label) * 2 > count(*) AS is_right,
         max(votes) * 2 > min(total) AS decided
  FROM (
    SELECT *, count(*) OVER (PARTITION BY batch_id, dialogue_id, turn, answer) AS votes,
           count(*) OVER (PARTITION BY batch_id, dialogue_id, turn) AS total
    FROM (SELECT batch_id, dialogue_id, turn, model_label, band, stratum_turns,
                 coalesce(label, lower(answer)) AS answer
          FROM edos.answers WHERE purpose = 'audit')
  )
  GROUP BY batch_id, dialogue_id, turn
), strata AS (
  SELECT batch_id, label, band, max(stratum_turns) AS turns, count(*) AS audited, count_if(decided) AS decided,
         count_if(decided AND is_right) AS right_ones
  FROM verdicts GROUP BY batch_id, label, band
), grouped AS (
  SELECT strata.*, place, grouped_by, name
  FROM strata LATERAL VIEW stack(4,
    1, 'all', 'all', 2, 'band', band, 3, 'class', label, 4, 'class and band', concat(label, ' ', band)
  ) AS place, grouped_by, name
), sums AS (
  SELECT batch_id, place, grouped_by, name, sum(audited) AS audited, sum(decided) AS decided,
         sum(right_ones) AS right_ones,
         try_divide(sum(turns * try_divide(right_ones, decided)), sum(CASE WHEN decided > 0 THEN turns END)) AS p,
         try_divide(
           power(sum(CASE WHEN decided > 0 THEN turns END), 2), sum(try_divide(double(turns) * turns, decided))
         ) AS n
  FROM grouped GROUP BY batch_id, place, grouped_by, name
), wilson AS (
  SELECT *, (p + z2 / (2 * n)) / (1 + z2 / n) AS middle, sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    AS reach
  FROM (SELECT *, 1.96D * 1.96D AS z2 FROM sums)
)
SELECT batch_id, grouped_by, name, audited, audited - decided AS undecided, right_ones, round(p, 4) AS precision,
       round(greatest(middle - reach, 0), 4) AS low, round(least(middle + reach, 1), 4) AS high
FROM wilson ORDER BY batch_id, place, name
