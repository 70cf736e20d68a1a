-- One turn of a finished dialogue and one genre of its film: a turn has a row for each genre, none without genres.
SELECT dialogue_id, turn, movie_id, genre
FROM edos.turns LATERAL VIEW explode(genres) AS genre
