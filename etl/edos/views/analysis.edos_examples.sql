-- EDOS Table 6: dialogues with labels, twelve for each quarter of their least confident turn; none profane.
WITH several AS (
  SELECT dialogue_id, movie_id, turns, get(turns, 0).label AS opening,
         CAST(least(floor(round(CAST(array_min(transform(turns, turn -> turn.confidence)) AS double), 4) * 4), 3) AS int) AS quarter
  FROM edos.dialogues WHERE size(turns) BETWEEN 2 AND 4
), candidates AS (
  SELECT quarter, opening,
         min_by(struct(dialogue_id, movie_id, turns), md5(dialogue_id)) AS one
  FROM several GROUP BY quarter, opening
), decent AS (
  SELECT candidates.* FROM candidates
  LEFT ANTI JOIN (SELECT dialogue_id FROM subtitles.clean_dialogues WHERE profane) AS profane
    ON profane.dialogue_id = candidates.one.dialogue_id
), placed AS (
  SELECT quarter, one, row_number() OVER (PARTITION BY quarter ORDER BY md5(one.dialogue_id), one.dialogue_id)
    AS place FROM decent
)
SELECT quarter / 4D AS lowest_confidence_from, place, one.dialogue_id, one.movie_id, turn, line.text,
       line.label, round(CAST(line.confidence AS double), 2) AS confidence
FROM placed LATERAL VIEW posexplode(one.turns) AS turn, line
WHERE place <= 12 ORDER BY lowest_confidence_from, place, turn
