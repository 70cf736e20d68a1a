"""Turns into dialogues: a silence of more than 5 seconds parts two dialogues (EDOS 3.1)."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.tables.outcome import Outcome

DIALOGUE_COLUMNS = (
    "source_path", "subtitle_id", "movie_id", "release", "language", "year", "genres",
)  # fmt: skip


def silence_before(turn: Column, previous: Column) -> Column:
    """Milliseconds from the previous turn's end to this turn's start; null when either is missing (EDOS 3.1)."""
    return turn["start_ms"] - previous["end_ms"]


def opens_dialogue(turn: Column, previous: Column, silence_seconds: float) -> Column:
    """Whether a turn begins a new dialogue: the silence before it is longer than the limit (EDOS 3.1).

    The paper's exception: where a time is missing in at least one of the two turns they stay together.
    """
    limit_ms = F.lit(round(silence_seconds * 1000))
    return F.coalesce(silence_before(turn, previous) > limit_ms, F.lit(False))


def sentences_of(turns: Column) -> Column:
    """How many sentences an array of turns stands for, as a bigint: the sum of their sentence ranges."""
    return F.aggregate(
        turns,
        F.lit(0).cast("bigint"),
        lambda total, turn: total + turn["sentence_last"] - turn["sentence_first"] + F.lit(1).cast("bigint"),
    )


def count_sentences(dialogues: DataFrame) -> int:
    """The sentences that the turns of all dialogues stand for: the stage's units out."""
    return dialogues.agg(F.coalesce(F.sum(sentences_of(F.col("turns"))), F.lit(0))).head()[0]  # type: ignore[index]


def _cut(files: DataFrame, silence_seconds: float) -> DataFrame:
    # `turns` and `opens` are each read more than once below: Spark then computes them once, not per element.
    turns = F.col("turns")
    opens = F.filter(
        F.sequence(F.lit(0), F.size(turns) - 1),
        lambda i: (i == 0) | opens_dialogue(F.get(turns, i), F.get(turns, i - 1), silence_seconds),
    )
    started = files.filter(F.size(turns) > 0).select(*DIALOGUE_COLUMNS, "turns", opens.alias("opens"))
    ends = F.concat(F.slice(F.col("opens"), 2, F.size("opens")), F.array(F.size(turns)))
    ranges = started.select(
        *DIALOGUE_COLUMNS, "turns", F.inline(F.arrays_zip(F.col("opens").alias("from"), ends.alias("to")))
    )
    return ranges.select(
        *DIALOGUE_COLUMNS, F.slice(turns, F.col("from") + 1, F.col("to") - F.col("from")).alias("turns")
    )


def sentences_outside_turns(files: DataFrame) -> DataFrame:
    """The sentences that no turn covers, one ledger row each: sentences without a word.

    Args:
        files: one row a file with subtitle_id, sentence_count and turns (in order, ranges not overlapping).
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
    left_out = F.flatten(F.transform(gaps, lambda gap: F.sequence(gap["first"], gap["last"])))
    return (
        files.filter(F.size(turns) > 0)
        .select("source_path", "subtitle_id", F.explode(left_out).alias("index"))
        .select(
            F.lit("sentence").alias("unit"),
            F.concat_ws("-", "subtitle_id", F.col("index").cast("string")).alias("id"),
            F.lit("no_words").alias("reason"),
            F.lit("the sentence has no words").alias("detail"),
            F.lit(1).cast("bigint").alias("units"),
            F.col("source_path").alias("work_key"),
        )
    )


def files_without_turns(files: DataFrame) -> DataFrame:
    """The files in which no one speaks, one ledger row each, standing for all their sentences."""
    return files.filter(F.coalesce(F.size("turns"), F.lit(0)) <= 0).select(
        F.lit("file").alias("unit"),
        F.col("source_path").alias("id"),
        F.lit("no_sentences").alias("reason"),
        F.concat(F.col("sentence_count").cast("string"), F.lit(" sentences, none with words")).alias("detail"),
        F.col("sentence_count").cast("bigint").alias("units"),
        F.col("source_path").alias("work_key"),
    )


def dialogues_between_silences(files: DataFrame, silence_seconds: float) -> Outcome:
    """Cut each file's turns into dialogues where the screen is silent for longer than the limit (EDOS 3.1).

    Args:
        files: one row a file: source_path, subtitle_id, movie_id, release, language, year, genres,
            sentence_count and turns array<struct<text, start_ms, end_ms, sentence_first, sentence_last>>
            in the order of the film.
        silence_seconds: the silence, in seconds, that is still inside one dialogue (the paper: 5).

    Returns:
        Outcome of the columns of ``subtitles.dialogues``. The unit is the sentence: sentence_count of the
        files = ``count_sentences`` of the rows + units of the dropped, exactly.
    """
    dialogues = _cut(files, silence_seconds)
    dialogue_id = F.concat_ws("-", "subtitle_id", F.get("turns", F.lit(0))["sentence_first"].cast("string"))
    return Outcome(
        rows=dialogues.select(dialogue_id.alias("dialogue_id"), *DIALOGUE_COLUMNS, "turns"),
        dropped=sentences_outside_turns(files).unionByName(files_without_turns(files)),
    )
