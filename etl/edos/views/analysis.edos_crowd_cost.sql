-- What the crowd's work cost and how long it took (EDOS 7).
--
-- place: order of the rows
-- criterion: what value and paper are, with the unit
-- value: of our crowd; null: nothing to count
-- paper: of the paper's crowd; null: it does not say
-- minimum_wage: the minimum wage that the paper names, in dollars an hour
WITH usual AS (
  SELECT avg(seconds) / 60 AS minutes, try_divide(sum(reward), sum(seconds) / 3600) AS by_reward,
         try_divide(sum(reward + bonus), sum(seconds) / 3600) AS with_bonus
  FROM edos.assignments WHERE purpose = 'crowd' AND NOT unusually_long AND reward > 0
), sums AS (
  SELECT count(*) AS assignments, count_if(unusually_long) AS long, sum(reward) AS reward, sum(bonus) AS bonus
  FROM edos.assignments WHERE purpose = 'crowd'
), ours AS (
  SELECT stack(7,
    1, 'HITs done by a worker', CAST(sums.assignments AS double), CAST(NULL AS double),
    2, 'of these, unusually long', CAST(sums.long AS double), CAST(NULL AS double),
    3, 'Rewards in dollars', CAST(sums.reward AS double), CAST(NULL AS double),
    4, 'Bonuses in dollars', CAST(sums.bonus AS double), CAST(NULL AS double),
    5, 'Mean minutes a HIT, unusually long ones aside', round(usual.minutes, 2), 4.12D,
    6, 'Dollars an hour by the reward alone', round(usual.by_reward, 2), round(0.4D / 4.12D * 60, 2),
    7, 'Dollars an hour with the bonus', round(usual.with_bonus, 2), round(0.5D / 4.12D * 60, 2)
  ) AS (place, criterion, value, paper)
  FROM sums CROSS JOIN usual
)
SELECT place, criterion, value, paper, 7.12D AS minimum_wage FROM ours ORDER BY place
