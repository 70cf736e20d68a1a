"""A cap on how often one text is a turn. The authors' file of clean dialogues is named reduce_freq."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import fault, with_columns_once

REASON = "frequent_turn"


def surplus_turns(dialogues: DataFrame, most: int) -> DataFrame:
    """Return the turns of each dialogue whose text has occurred often enough elsewhere.

    Of each text ``most`` occurrences stay, those of the dialogues with the lowest hash of their id.

    In 36,135 released turns that do not end their dialogue, ``Thank you .`` and 19 other texts, 2.5 % of the sentences
    of a sample of films, occur twice, not 912 times; other texts occur equally often, however frequent they are in
    films. A cap of 50 to 120 in 19 million turns explains it.

    Args:
        dialogues: dialogue_id, turns with text.
        most: occurrences of one text that stay.

    Returns:
        dialogue_id, surplus: map<index of the turn, occurrences of its text>.
    """
    placed = dialogues.select("dialogue_id", F.posexplode(F.col("turns")["text"]).alias("index", "text"))
    counts = placed.groupBy("text").agg(F.count("*").alias("copies")).filter(F.col("copies") > most)
    order = Window.partitionBy("text").orderBy(F.xxhash64("dialogue_id"), "dialogue_id", "index")
    ranked = placed.join(F.broadcast(counts), "text").withColumn("rank", F.row_number().over(order))
    surplus = ranked.filter(F.col("rank") > most)
    entries = F.map_from_entries(F.collect_list(F.struct("index", "copies")))
    return surplus.groupBy("dialogue_id").agg(entries.alias("surplus"))


def judge_surplus_turns(judged: DataFrame, most: int) -> DataFrame:
    """Add column verdicts: array<struct<reason, detail>> of the turns, null for a turn that stays (EDOS 3.1).

    Args:
        judged: dialogue_id and turns with text.
        most: occurrences of one text that stay.
    """
    marked = judged.join(surplus_turns(judged, most), "dialogue_id", "left")

    def verdict(turn: Column, index: Column) -> Column:
        copies = F.try_element_at("surplus", index)
        return F.when(copies.isNotNull(), fault(REASON, copies, " times: ", turn["text"]))

    verdicts = F.transform("turns", verdict)
    return with_columns_once(marked, verdicts=verdicts).drop("surplus")
