-- One row for each pair of adjacent sentences and its turn-change score.
SELECT source_path, subtitle_id, sentence, sentence + 1 AS next_sentence, score, score > 0 AS opens_turn
FROM subtitles.turn_scores LATERAL VIEW posexplode(scores) AS sentence, score
