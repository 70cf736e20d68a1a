"""Score the readability of turns with their history: f + 0.04 d (EDOS Appendix A)."""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.hashes import history_hash
from etl.edos.choosing import PLACES, rounded_confidence
from etl.pipeline.outcome import Outcome, dropped_columns

ALPHA = 87.0
"""Added to the number of tokens (EDOS A)."""
DISTINCT_WEIGHT = 0.04
"""Weight of d relative to f (EDOS A)."""


@dataclass(frozen=True)
class Reading:
    """The readability of a turn as we read Appendix A, which gives alpha and the weight, but not the scales of f and d.

    Attributes:
        frequencies: ``relative``: a token's share of the corpus; ``counts``: its number of occurrences.
        distinct: d as a ``share`` in 0..1, or in ``percent``.
    """

    frequencies: str = "relative"
    distinct: str = "share"

    def terms(self) -> dict[str, str]:
        """Return f, d and readability as SQL over count_sum, corpus_tokens, tokens, distinct_tokens."""
        total = "count_sum / corpus_tokens" if self.frequencies == "relative" else "count_sum"
        share = "distinct_tokens / tokens" if self.distinct == "share" else "100 * distinct_tokens / tokens"
        f = f"{total} / ({ALPHA} + tokens)"
        score = f"round({f} + {DISTINCT_WEIGHT} * {share}, 6)"
        return {"f": f"double({f})", "d": f"double({share})", "readability": f"double({score})"}


def tokens_of(turns: Column) -> Column:
    """Return the lower-case tokens of an array of turns, split at blanks."""
    return F.filter(F.split(F.lower(F.concat_ws(" ", turns)), " "), lambda token: token != "")


def band_of(confidence: Column, edges: tuple[float, ...]) -> Column:
    """Return the highest edge that a confidence (rounded to 4 decimals) reaches, as text; null below all edges."""
    steps = rounded_confidence(confidence)
    reached = [F.when(steps >= round(edge * PLACES), F.lit(f"{edge:g}")) for edge in sorted(edges, reverse=True)]
    return F.coalesce(*reached)


def readability_of_turns(
    weak_labels: DataFrame, dialogues: DataFrame, bands: tuple[float, ...], reading: Reading
) -> Outcome:
    """Return the turns with a confident weak label and the readability of their history (EDOS 3.2, A).

    Args:
        weak_labels: ``edos.weak_labels``.
        dialogues: ``subtitles.clean_dialogues``, whose tokens are the vocabulary.
        bands: lower edges of the confidence bands. Turns below all of them are dropped.
        reading: interpretation of Appendix A.

    Returns:
        Outcome of ``edos.readability``. The unit is the turn. Dropped turns are counted by class.
    """
    banded = weak_labels.select(
        "dialogue_id", "turn", "label", "confidence", band_of(F.col("confidence"), bands).alias("band")
    )
    candidates = banded.where(F.col("band").isNotNull()).join(
        dialogues.select("dialogue_id", F.col("turns")["text"].alias("turns")), "dialogue_id"
    )
    history = F.slice("turns", F.lit(1), F.col("turn") + 1)
    candidates = candidates.withColumn("history_hash", history_hash(history)).withColumn("words", tokens_of(history))
    wordless = candidates.where(F.size("words") == 0)
    candidates = candidates.where(F.size("words") > 0)
    # Each distinct word is joined once per turn, not once per occurrence.
    words = candidates.select("dialogue_id", "turn", F.explode("words").alias("token"))
    words = words.groupBy("dialogue_id", "turn", "token").agg(F.count("*").alias("n"))
    # The vocabulary of EDOS A, step 1: the counts of all tokens of the clean dialogues.
    tokens = dialogues.select(F.explode(tokens_of(F.col("turns")["text"])).alias("token"))
    counts = tokens.groupBy("token").agg(F.count("*").alias("count"))
    sums = (
        words.join(counts, "token")
        .groupBy("dialogue_id", "turn")
        .agg(
            F.sum(F.col("n") * F.col("count")).alias("count_sum"),
            F.sum("n").alias("tokens"),
            F.count("*").alias("distinct_tokens"),
        )
    )
    total = counts.agg(F.sum("count").alias("corpus_tokens"))
    counted = candidates.drop("words", "turns").join(sums, ["dialogue_id", "turn"]).crossJoin(F.broadcast(total))
    below = banded.where(F.col("band").isNull()).select("label", F.lit("below_bands").alias("reason"))
    rest = below.unionByName(wordless.select("label", F.lit("no_words").alias("reason")))
    group = F.concat_ws("/", F.coalesce("label", F.lit("(no label)")), "reason")
    dropped = rest.groupBy("label", "reason").agg(F.count("*").alias("units"))
    columns = dropped_columns("class", group, F.col("reason"), F.col("units"), F.lit(f"bands from {min(bands):g}"))
    scored = counted.withColumns({name: F.expr(sql) for name, sql in reading.terms().items()})
    return Outcome(scored, dropped.select(*columns))


def correlations(readability: DataFrame) -> tuple[float | None, float | None]:
    """Return Pearson's r of the score with f and with d. A term with r near 0 has little influence on the ranking."""
    row = readability.agg(F.corr("f", "readability"), F.corr("d", "readability")).first()
    return (row[0], row[1]) if row is not None else (None, None)
