"""Dialogues from turns: a silence of more than 5 seconds separates two dialogues (EDOS 3.1)."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.pipeline.outcome import Outcome, dropped_columns
from etl.subtitles.turns import TURN_LISTS

DIALOGUE_COLUMNS = ("source_path", "subtitle_id", "movie_id", "release", "language", "year", "genres")


def opens_dialogue(turn: Column, previous: Column, silence_seconds: float) -> Column:
    """Return whether the silence between two turns exceeds the limit; false where a time is missing (EDOS 3.1).

    An end before its start counts as missing.
    """
    end_ms = F.when(previous["end_ms"] >= F.coalesce(previous["start_ms"], previous["end_ms"]), previous["end_ms"])
    silence_ms = turn["start_ms"] - end_ms
    return F.coalesce(silence_ms > F.lit(round(silence_seconds * 1000)), F.lit(False))


def sentence_id(index: Column) -> Column:
    """Return the id of a file's sentence, `<subtitle_id>-<index>`; a dialogue has the id of its first sentence.

    Args:
        index: of the sentence in its file; the row has ``subtitle_id``.
    """
    return F.concat_ws("-", "subtitle_id", index.cast("string"))


def _cut(files: DataFrame, silence_seconds: float) -> DataFrame:
    # `turns` and `opens` are columns of their frame, so that Spark evaluates them once and not per element.
    turns = F.col("turns")
    opens = F.filter(
        F.sequence(F.lit(0), F.size(turns) - 1),
        lambda i: (i == 0) | opens_dialogue(F.get(turns, i), F.get(turns, i - 1), silence_seconds),
    )
    lists = tuple(TURN_LISTS)
    started = files.filter(F.size(turns) > 0).select(*DIALOGUE_COLUMNS, *lists, opens.alias("opens"))
    ends = F.concat(F.slice(F.col("opens"), 2, F.size("opens")), F.array(F.size(turns)))
    ranges = started.select(
        *DIALOGUE_COLUMNS, *lists, F.inline(F.arrays_zip(F.col("opens").alias("from"), ends.alias("to")))
    )
    size = F.col("to") - F.col("from")
    return ranges.select(*DIALOGUE_COLUMNS, *(F.slice(name, F.col("from") + 1, size).alias(name) for name in lists))


def sentences_outside_turns(files: DataFrame) -> DataFrame:
    """Return ledger rows of the sentences that no turn covers, which have no words.

    Args:
        files: one row per file with source_path, subtitle_id, sentence_count and turns in order, without overlaps.
    """
    turns = F.col("turns")
    before = F.transform(
        turns,
        lambda turn, i: F.struct(
            F.coalesce(F.get(turns, i - 1)["sentence_last"] + 1, F.lit(0)).alias("first"),
            (turn["sentence_first"] - 1).alias("last"),
        ),
    )
    after = F.array(
        F.struct(
            (F.get(turns, F.size(turns) - 1)["sentence_last"] + 1).alias("first"),
            (F.col("sentence_count") - 1).alias("last"),
        )
    )
    gaps = F.filter(F.concat(before, after), lambda gap: gap["first"] <= gap["last"])
    uncovered = F.flatten(F.transform(gaps, lambda gap: F.sequence(gap["first"], gap["last"])))
    sentences = files.filter(F.size(turns) > 0).select(
        F.col("source_path").alias("work_key"), "subtitle_id", F.explode(uncovered).alias("index")
    )
    row = dropped_columns("sentence", sentence_id(F.col("index")), "no_words", 1, "the sentence has no words")
    return sentences.select(*row, "work_key")


def files_without_turns(files: DataFrame) -> DataFrame:
    """Return ledger rows of the files without any turn; their units are the file's sentences."""
    count = F.col("sentence_count")
    detail = F.concat(count.cast("string"), F.lit(" sentences, none with words"))
    row = dropped_columns("file", "source_path", "no_sentences", count, detail)
    empty = files.filter(F.coalesce(F.size("turns"), F.lit(0)) <= 0)
    return empty.select(*row, F.col("source_path").alias("work_key"))


def dialogues_between_silences(files: DataFrame, silence_seconds: float) -> Outcome:
    """Cut each file's turns into dialogues at silences longer than the limit (EDOS 3.1).

    Args:
        files: one row per file: source_path, subtitle_id, movie_id, release, language, year, genres, sentence_count,
            and the lists of ``turns_of``, turns being in film order.
        silence_seconds: longest silence within a dialogue (the paper: 5).

    Returns:
        Outcome of ``subtitles.dialogues``, in units of sentences: the files' sentence_count =
        sentences in the rows' turns + units of the dropped.
    """
    dialogues = _cut(files, silence_seconds)
    dialogue_id = sentence_id(F.get("turns", F.lit(0))["sentence_first"])
    return Outcome(
        rows=dialogues.select(dialogue_id.alias("dialogue_id"), *DIALOGUE_COLUMNS, *TURN_LISTS),
        dropped=sentences_outside_turns(files).unionByName(files_without_turns(files)),
    )
