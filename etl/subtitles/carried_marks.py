"""Turn marks that other uploads of a film show for the same two sentences (ours).

Uploads of one film are typed, split and marked by different people. Where two of them have the same three words before
and after a border of sentences, a mark at this border in one counts in the other, too.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.subtitles.turn_features import hashed_tokens
from etl.subtitles.turn_marks import NEW_TURN, UNMARKED, Spoken, spoken
from etl.subtitles.turn_ragged import mixed
from etl.subtitles.turn_sentences import Sentences

_compute: Any = pc
WORDS_AROUND = 3
"""Words on each side of a border that make its key; they may reach over several short sentences."""
_BORDERS = "language string, movie_id string, source_path string, sentence int, key bigint, decision int"
_COLUMNS = ("language", "movie_id", "source_path", "sentences")


def border_keys(lines: Spoken) -> tuple[np.ndarray, np.ndarray]:
    """Return the uint64 key of the border before each sentence, and whether the border has a key.

    The key hashes the lower-case words around the border, without marks and punctuation. A border has none where its
    sentence or its left neighbour has no words, where the file has fewer words on a side, or where the file repeats
    the key.
    """
    bare = _compute.replace_substring_regex(lines.text, r"[^\p{L}\p{M}\p{N} ]+", "")
    words = hashed_tokens(bare)
    first_of_file = np.concatenate([[0], words.offsets[lines.offsets[1:]]])
    at = words.offsets[:-1]
    low = first_of_file[lines.file]
    high = first_of_file[lines.file + 1]
    found = lines.pairable & (at - low >= WORDS_AROUND) & (high - at >= WORDS_AROUND)
    key = np.zeros(len(at), dtype=np.uint64)
    if found.any():
        around: np.ndarray = np.zeros(int(found.sum()), dtype=np.uint64)
        for step in range(-WORDS_AROUND, WORDS_AROUND):
            around = mixed(around, words.values[at[found] + step])
        key[found] = around
        in_file = mixed(around, lines.file[found].astype(np.uint64))
        _, inverse, counts = np.unique(in_file, return_inverse=True, return_counts=True)
        found[found] = counts[inverse] == 1
    return key, found


def _borders(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        sentences = Sentences.of(batch.column("sentences"))
        lines = spoken(sentences)
        key, found = border_keys(lines)
        certain = lines.certain
        to_score = np.asarray(_compute.fill_null(batch.column("to_score"), False), dtype=bool)
        kept = np.flatnonzero(found & ((certain != UNMARKED) | to_score[lines.file]))
        file = pa.array(lines.file[kept])
        sentence = lines.opens_at[kept] - sentences.offsets[lines.file[kept]]
        yield pa.RecordBatch.from_arrays(
            [
                *(_compute.take(batch.column(name), file) for name in ("language", "movie_id", "source_path")),
                pa.array(sentence, pa.int32()),
                pa.array(key[kept].view(np.int64)),
                pa.array(certain[kept], pa.int32()),
            ],
            names=[column.split()[0] for column in _BORDERS.split(", ")],
        )


def marks_of_other_uploads(chosen: DataFrame, files: DataFrame) -> DataFrame:
    """Return the marks that other uploads of each film have for the unmarked borders of the chosen uploads.

    The majority of the uploads that mark a border decides; a tie decides nothing. Dashes that open a block are left
    out. Files of unknown film have no other uploads.

    Args:
        chosen: source_path, movie_id and language of the uploads to score.
        files: ``subtitles.files``, every upload (language, movie_id, source_path, sentences).

    Returns:
        source_path and carried, an array of the index of the border's right sentence and whether it opens a turn;
        no row for an upload without any.
    """
    known = ~F.col("movie_id").startswith("file:")
    films = chosen.where(known).select("language", "movie_id").distinct()
    several = files.select("language", "movie_id").join(F.broadcast(films), ["language", "movie_id"], "left_semi")
    films = several.groupBy("language", "movie_id").count().where("count > 1").drop("count")
    scored = chosen.select("source_path", F.lit(True).alias("to_score"))
    uploads = files.select(*_COLUMNS).join(F.broadcast(films), ["language", "movie_id"], "left_semi")
    marked = uploads.join(F.broadcast(scored), "source_path", "left").select(*_COLUMNS, "to_score")
    film_border = Window.partitionBy("language", "movie_id", "key")
    sign = F.when(F.col("decision") == NEW_TURN, 1).when(F.col("decision") == UNMARKED, 0).otherwise(-1)
    votes = marked.mapInArrow(_borders, _BORDERS).withColumn("votes", F.sum(sign).over(film_border))
    decided = votes.where((F.col("decision") == UNMARKED) & (F.col("votes") != 0)).join(
        F.broadcast(scored), "source_path", "left_semi"
    )
    each = F.struct("sentence", (F.col("votes") > 0).alias("new_turn"))
    return decided.groupBy("source_path").agg(F.array_sort(F.collect_list(each)).alias("carried"))
