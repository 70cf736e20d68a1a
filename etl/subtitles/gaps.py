"""Silences between neighbouring sentences, the basis of the 5 s rule (EDOS C, Figure 5)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

BIN_MS = 250
LAST_BIN_MS = 10_000
"""The classes are ours, because Figure 5 is printed without numbers. Gaps from 10 s on form one class."""


IN_SENTENCE = "in_sentence"
"""The class of the pairs of blocks within a sentence, which are no pairs of sentences."""


def gap_histogram(files: DataFrame) -> DataFrame:
    """Count pairs of neighbouring sentences by the silence between them (EDOS Appendix C, Figure 5).

    The paper measures between subtitle blocks. Files keep the times of sentences: pairs of blocks within a sentence
    are counted as a class of their own, because nobody waits for 3 s in a sentence, and sentences that share a block
    are another class.

    Args:
        files: sentences, array of struct with block_first, block_last, start_ms, end_ms.

    Returns:
        kind (gap, overlap, same_block, no_time, in_sentence), from_ms and to_ms (of gaps; to_ms null for the last
        class), pairs.
    """
    # Select single fields, so that the texts are not read.
    names = ("block_first", "block_last", "start_ms", "end_ms")
    times = files.select(*(F.col("sentences")[name].alias(name) for name in names))
    neighbours = F.transform(
        F.sequence(F.lit(1), F.size("start_ms") - 1),
        lambda i: F.struct(
            (F.get("block_first", i) == F.get("block_last", i - 1)).alias("same_block"),
            (F.get("start_ms", i) - F.get("end_ms", i - 1)).alias("gap"),
        ),
    )
    pairs = times.where(F.size("start_ms") > 1).select(F.explode(neighbours).alias("pair"))
    gap = F.col("pair")["gap"]
    kind = (
        F.when(F.coalesce(F.col("pair")["same_block"], F.lit(False)), "same_block")
        .when(gap.isNull(), "no_time")
        .when(gap < 0, "overlap")
        .otherwise("gap")
    )
    lower = F.least(F.floor(gap / BIN_MS) * BIN_MS, F.lit(LAST_BIN_MS)).cast("int")
    classes = pairs.select(kind.alias("kind"), F.when(kind == "gap", lower).alias("from_ms"))
    counted = classes.groupBy("kind", "from_ms").agg(F.count("*").alias("pairs"))
    upper = F.when(F.col("from_ms") < LAST_BIN_MS, F.col("from_ms") + BIN_MS)
    spans = F.arrays_zip("block_first", "block_last")
    inner = F.transform(spans, lambda one: F.greatest(one["block_last"] - one["block_first"], F.lit(0)))
    within = times.select(F.aggregate(inner, F.lit(0), lambda total, one: total + F.coalesce(one, F.lit(0))).alias("n"))
    in_sentences = within.agg(F.sum("n").cast("bigint").alias("pairs")).where(F.col("pairs") > 0)
    none = F.lit(None).cast("int")
    return counted.select("kind", "from_ms", upper.alias("to_ms"), "pairs").unionByName(
        in_sentences.select(F.lit(IN_SENTENCE).alias("kind"), none.alias("from_ms"), none.alias("to_ms"), "pairs")
    )


def count_pairs(files: DataFrame) -> int:
    """Return the number of pairs of neighbouring sentences in all files."""
    pairs = F.greatest(F.size("sentences") - 1, F.lit(0)).cast("bigint")
    return files.agg(F.coalesce(F.sum(pairs), F.lit(0))).head()[0]  # type: ignore[index]
