-- One turn of a finished dialogue and one genre of its film: a turn has a row for each genre, none without genres.
--
-- dialogue_id: id of the finished dialogue
-- turn: index of the turn in the dialogue, from 0
-- movie_id: IMDb number of the film; file:<subtitle_id> if its path names none
-- genre: one genre of the film
SELECT dialogue_id, turn, movie_id, genre
FROM edos.turns LATERAL VIEW explode(genres) AS genre
