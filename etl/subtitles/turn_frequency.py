"""A cap on how often one text is a turn. The authors' file of clean dialogues is named reduce_freq."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import computed_once

REASON = "frequent_turn"


def surplus_turns(dialogues: DataFrame, most: int) -> DataFrame:
    """Return the first turn of each dialogue whose text has occurred often enough elsewhere.

    Of each text ``most`` occurrences stay, those of the dialogues with the lowest hash of their id.

    In 36,135 released turns that do not end their dialogue, ``Thank you .`` and 19 other texts, 2.5 % of the sentences
    of a sample of films, occur twice, not 912 times; other texts occur equally often, however frequent they are in
    films. A cap of 50 to 120 in 19 million turns explains it.

    Args:
        dialogues: dialogue_id, turns with text.
        most: occurrences of one text that stay.

    Returns:
        dialogue_id, kept (turns before the first surplus one), copies (occurrences of its text).
    """
    placed = dialogues.select("dialogue_id", F.posexplode(F.col("turns")["text"]).alias("place", "text"))
    counts = placed.groupBy("text").agg(F.count("*").alias("copies")).filter(F.col("copies") > most)
    order = Window.partitionBy("text").orderBy(F.xxhash64("dialogue_id"), "dialogue_id", "place")
    ranked = placed.join(F.broadcast(counts), "text").withColumn("rank", F.row_number().over(order))
    surplus = ranked.filter(F.col("rank") > most)
    return surplus.groupBy("dialogue_id").agg(F.min("place").alias("kept"), F.min_by("copies", "place").alias("copies"))


def without_surplus_turns(judged: DataFrame, most: int | None) -> DataFrame:
    """Remove surplus turns, and the turns after the first of them (EDOS 3.1).

    Args:
        judged: dialogue_id, turns, places (of the turns in the raw dialogue), removed.
        most: occurrences of one text that stay; None: all.

    Returns:
        The same columns.
    """
    if most is None:
        return judged
    marked = judged.join(surplus_turns(judged, most), "dialogue_id", "left")
    size = F.size("turns")
    step = computed_once(marked, kept=F.coalesce(F.col("kept"), size))
    kept = F.col("kept")
    text = F.get("turns", kept)["text"]
    because = F.concat(F.lit("turn "), F.get("places", kept).cast("string"), F.lit(f" went: {REASON}"))
    removed = F.transform(
        F.slice("places", kept + 1, size - kept),
        lambda place, i: F.struct(
            place.alias("turn"),
            F.when(i == 0, REASON).otherwise("after_removed_turn").alias("reason"),
            F.when(i == 0, F.concat(F.col("copies").cast("string"), F.lit(" times: "), text))
            .otherwise(because)
            .alias("detail"),
        ),
    )
    # The turns after it that had already gone keep their reasons.
    return computed_once(
        step,
        turns=F.slice("turns", 1, kept),
        places=F.slice("places", 1, kept),
        removed=F.concat("removed", removed),
    ).select(*judged.columns)
