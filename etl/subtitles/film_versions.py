"""Films as units of work of the cleaning: what each one's dialogues hold, and which of them repeat others."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.common.corpus_duplicates import corpus_duplicates
from etl.common.near_duplicates import NearDuplicates, duplicates, exact_copies
from etl.pipeline.outcome import Outcome, dropped_columns
from etl.pipeline.rows_among import rows_among
from etl.pipeline.tables.ops import WORK_VERSION
from etl.subtitles.settings import CleaningSettings

_COPY = "struct<dialogue_id: string, first_copy: string>"


def films_of(dialogues: DataFrame, together: bool = False) -> DataFrame:
    """Return each file's number of turns and a hash of all its dialogues hold (``work_version``).

    Args:
        dialogues: source_path, turns and whatever else counts.
        together: whether a rule compares the films with each other: all have one version then, which changes with each.

    Returns:
        source_path, turns, work_version.
    """
    rows = dialogues.select("source_path", F.size("turns").alias("size"), _content(dialogues).alias("content"))
    films = rows.groupBy("source_path").agg(F.sum("size").alias("turns"), F.bit_xor("content").alias(WORK_VERSION))
    return _of_one_version(films) if together else films


def films_with_copies(filtered: DataFrame, rules: CleaningSettings) -> DataFrame:
    """Add to each file its dialogues that repeat one of another film (EDOS 3.1: the first copy across films stays).

    Uploads of one film have one version, since they are compared with each other.

    Args:
        filtered: ``subtitles.filtered_dialogues``.
        rules: which duplicates are looked for.

    Returns:
        source_path, turns, copies: array<struct<dialogue_id, first_copy>>, work_version: a hash of the film's dialogues
        and of their copies.
    """
    size = F.size("turns").alias("size")
    rows = filtered.select("dialogue_id", "source_path", "movie_id", size, _content(filtered).alias("of"))
    rows = rows.withColumn("copy", F.lit(None).cast(_COPY))
    if rules.exact_duplicates:
        found = exact_copies(filtered.select("dialogue_id", F.col("turns")["text"].alias("texts")))
        copy = F.struct("dialogue_id", "first_copy").alias("copy")
        rows = rows.drop("copy").join(found.select("dialogue_id", copy), "dialogue_id", "left")
    files = rows.groupBy("movie_id", "source_path").agg(
        F.sum("size").alias("turns"),
        F.sort_array(F.collect_list("copy")).alias("copies"),
        F.bit_xor(F.xxhash64("of", "copy")).alias("of"),
    )
    version = F.bit_xor("of").over(Window.partitionBy("movie_id"))
    films = files.select("source_path", "turns", "copies", version.alias(WORK_VERSION))
    return _of_one_version(films) if rules.corpus_duplicates else films


def without_duplicates(
    films: DataFrame,
    filtered: DataFrame,
    rules: CleaningSettings,
    persist: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> Outcome:
    """Remove the dialogues that repeat one of another film or are like one of their own (EDOS 1: duplicates removed).

    With ``corpus_duplicates``, near-duplicates of other films go last.

    Args:
        films: from ``films_with_copies``.
        filtered: ``subtitles.filtered_dialogues``, of these films or more.
        rules: which duplicates are looked for.
        persist: called on the frames that are read several times.

    Returns:
        Outcome of ``subtitles.clean_dialogues``. Ledger: unit ``dialogue`` (units: its turns); unit ``band`` is a note
        without units. Turns in = turns out + units.
    """
    rows = rows_among(filtered, "source_path", films).drop(WORK_VERSION)
    near = NearDuplicates(jaccard=rules.near_duplicate_jaccard)
    texts = rows.select("dialogue_id", "movie_id", F.col("turns")["text"].alias("texts"))
    known = films.select(F.inline("copies"))
    copies = persist(duplicates(texts, known, near if rules.near_duplicates else None, persist))
    found = copies
    notes = None
    if rules.corpus_duplicates:
        left = texts.join(copies, "dialogue_id", "left_anti")
        alike, notes = corpus_duplicates(left, near, persist)
        found = copies.unionByName(persist(alike))
    row = dropped_columns("dialogue", "dialogue_id", F.col("reason"), F.col("size"), F.col("detail"))
    about = rows.select("dialogue_id", "source_path", F.size("turns").alias("size"))
    dropped = found.join(about, "dialogue_id").select(*row, F.col("source_path").alias("work_key"))
    if notes is not None:  # of all films: one stands for them, which changes with each
        one_film = films.agg(F.min("source_path").alias("work_key"))
        dropped = dropped.unionByName(notes.crossJoin(F.broadcast(one_film)))
    return Outcome(rows.join(found.select("dialogue_id"), "dialogue_id", "left_anti"), dropped)


def with_emptied_films(outcome: Outcome, films: DataFrame) -> Outcome:
    """Add a ledger row without units for each file that no dialogue is left of, so that it counts as done.

    Args:
        outcome: rows with source_path.
        films: source_path of all files.
    """
    assert outcome.dropped is not None
    left = outcome.rows.select("source_path").distinct()
    row = dropped_columns("file", "source_path", "no_dialogue_left", 0, "every dialogue has a reason of its own")
    emptied = films.select("source_path").join(left, "source_path", "left_anti")
    emptied = emptied.select(*row, F.col("source_path").alias("work_key"))
    return Outcome(outcome.rows, outcome.dropped.unionByName(emptied))


def _content(dialogues: DataFrame) -> Column:
    return F.xxhash64(*(name for name in dialogues.columns if name != WORK_VERSION))


def _of_one_version(films: DataFrame) -> DataFrame:
    whole = films.agg(F.bit_xor(F.xxhash64("source_path", WORK_VERSION)).alias(WORK_VERSION))
    return films.drop(WORK_VERSION).crossJoin(F.broadcast(whole))
