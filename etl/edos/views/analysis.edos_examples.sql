-- EDOS Table 6: dialogues with labels, twelve for each quarter of their least confident turn; none profane.
--
-- lowest_confidence_from: lower end of the quarter that the dialogue's least confident turn is in
-- place: number of the dialogue in its quarter, 1 to 12
-- dialogue_id: id of the dialogue
-- movie_id: IMDb number of the film; file:<subtitle_id> if its path names none
-- turn: index of the turn in the dialogue, from 0
-- text: what is said in the turn
-- label: label that the classifier gives the turn
-- confidence: probability of that label, two decimals
-- label_accepted: confidence reaches the threshold of the label (edos.label_thresholds); null: unknown
WITH several AS (
  SELECT dialogue_id, movie_id, turns, accepted, get(turns, 0).label AS opening,
         CAST(least(floor(round(CAST(array_min(transform(turns, turn -> turn.confidence)) AS double), 4) * 4), 3) AS int) AS quarter
  FROM edos.dialogues WHERE size(turns) BETWEEN 2 AND 4
), candidates AS (
  SELECT quarter, opening,
         min_by(struct(dialogue_id, movie_id, turns, accepted), md5(dialogue_id)) AS one
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
       line.label, round(CAST(line.confidence AS double), 2) AS confidence, get(one.accepted, turn) AS label_accepted
FROM placed LATERAL VIEW posexplode(one.turns) AS turn, line
WHERE place <= 12 ORDER BY lowest_confidence_from, place, turn
